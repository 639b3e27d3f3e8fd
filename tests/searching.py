"""A pytest plugin for ``make search``: every property test searches longer, and elsewhere each time.

pytest -p tests.searching --times 10
"""

from __future__ import annotations

import pytest
from hypothesis import settings

SETTINGS = "_hypothesis_internal_use_settings"  # where @settings leaves what it was given


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", type=int, default=10, help="how many times the ordinary number of examples")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Scale what tests set for themselves too: a profile would change only those that set nothing."""
    seen: set[int] = set()
    for item in items:
        function = getattr(item, "obj", None)
        function = getattr(function, "__func__", function)
        if not getattr(function, "is_hypothesis_test", False) or id(function) in seen:
            continue
        seen.add(id(function))
        ordinary = getattr(function, SETTINGS, None) or settings()
        longer = settings(ordinary, max_examples=ordinary.max_examples * config.getoption("--times"), derandomize=False)
        setattr(function, SETTINGS, longer)
