"""What of a long list of cases the ordinary run takes; all are taken with the slow tests (``make test-all``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(every: int, cases: Iterable[Any], first: int = 0) -> list[Any]:
    """The cases as parameters; those that are not the ``first`` of ``every`` (counted from 0), nor as far after it, are slow.

    >>> [type(case).__name__ for case in one_in(2, "abc")]
    ['str', 'ParameterSet', 'str']
    """
    return [
        case if place % every == first else pytest.param(case, marks=pytest.mark.slow)
        for place, case in enumerate(cases)
    ]
