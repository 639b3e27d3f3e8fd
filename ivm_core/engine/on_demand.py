"""What is made when it is first asked for: handing rows over to Spark takes long, and not every relation is read by it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeAlias, TypeVar, cast

T = TypeVar("T")
Made: TypeAlias = T | Callable[[], T]


def made(value: Made[T]) -> T:
    """The value, or what the function that stands for it gives."""
    return cast("T", value() if isinstance(value, FunctionType) else value)


def made_once(values: dict[str, Made[T]], name: str) -> T:
    """The value of a name, which is from now on its own."""
    found = values[name] = made(values[name])
    return found
