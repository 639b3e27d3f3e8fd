"""The page says every reason in words."""

from __future__ import annotations

from ivm_airflow.web.words import REASONS

from ivm_core.cost.model import Reason


def test_every_reason_has_its_words():
    assert set(REASONS) == set(map(str, Reason))
