"""Answers that are found once for each object: plans are deep, share their parts, and every pass asks the same of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Asked = TypeVar("Asked")
Others = ParamSpec("Others")
Answer = TypeVar("Answer")

MOST = 20_000


def remembered(
    question: Callable[Concatenate[Asked, Others], Answer], most: int = MOST
) -> Callable[Concatenate[Asked, Others], Answer]:
    """A function of a value that is never changed, made to remember its answers by the value's identity.

    The value is kept beside, so that no other one comes to have its id; past ``most`` answers all are forgotten. Other
    arguments are compared by content.
    """
    known: dict[object, tuple[Asked, Answer]] = {}

    @wraps(question)
    def ask(value: Asked, /, *args: Others.args, **kwargs: Others.kwargs) -> Answer:
        assert not kwargs
        key = (id(value), args) if args else id(value)
        found = known.get(key)
        if found is None:
            answer = question(value, *args, **kwargs)
            if len(known) >= most:
                known.clear()
            found = known[key] = (value, answer)
        return found[1]

    return ask
