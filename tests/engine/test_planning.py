"""Settings of the session are switched for a run's small queries, and left as they were found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ivm_core.engine.planning import Planning

ADAPTIVE = "spark.sql.adaptive.enabled"
ONCE = {ADAPTIVE: "false"}


class Settings(dict[str, str]):
    """As a session has them; counts how often it is asked to change one."""

    changes = 0

    def set(self, name: str, value: str) -> None:
        self[name], self.changes = value, self.changes + 1

    def unset(self, name: str) -> None:
        del self[name]
        self.changes += 1


def planning(settings: Settings) -> Planning:
    session: Any = SimpleNamespace(conf=settings)
    return Planning(lambda: session)


@pytest.mark.parametrize("owner", [{}, {ADAPTIVE: "true"}, {ADAPTIVE: "false"}])
def test_settings_are_left_as_they_were_found(owner: dict[str, str]) -> None:
    settings = Settings(owner)
    switched = planning(settings)
    for _ in range(2):
        with switched.once(True):
            assert settings == ONCE
    assert settings.changes <= 1, "what one view wants is still there for the next"
    with switched.once(False):
        assert settings == owner
    with switched.once(True):
        pass
    switched.close()
    assert settings == owner


def test_one_view_that_needs_the_owners_settings_decides_for_those_beside_it() -> None:
    settings = Settings({ADAPTIVE: "true"})
    switched = planning(settings)
    with switched.once(True):
        with switched.once(False), switched.once(True):
            assert settings == {ADAPTIVE: "true"}
        with switched.once(True):
            assert settings == ONCE


def test_a_run_without_small_queries_asks_the_session_nothing() -> None:
    def no_session() -> Any:
        raise AssertionError("asked")

    switched = Planning(no_session)
    with switched.once(False):
        pass
    switched.close()
