"""Answers that are found once for each object: plans are deep, share their parts, and every pass asks the same of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

_MOST = 20_000


def remembered(question: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    """A function of one value that is never changed, made to remember its answers by the value's identity.

    The value is kept beside, so that no other one comes to have its id; past a number of answers all are forgotten.
    """
    known: dict[int, tuple[Asked, Answer]] = {}

    @wraps(question)
    def ask(value: Asked) -> Answer:
        found = known.get(id(value))
        if found is None:
            answer = question(value)
            if len(known) >= _MOST:
                known.clear()
            found = known[id(value)] = (value, answer)
        return found[1]

    return ask
