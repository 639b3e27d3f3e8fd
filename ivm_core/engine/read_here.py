"""The data files that this process opens itself, without Spark, told to whoever counts what work reads: benchmarks do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_counting: list[list[Path]] = []


@contextmanager
def files_read_here() -> Iterator[list[Path]]:
    """The files that this process opens inside, in any thread; one that is opened twice is there twice."""
    files: list[Path] = []
    _counting.append(files)
    try:
        yield files
    finally:
        _counting[:] = (counted for counted in _counting if counted is not files)


def note(files: Sequence[Path]) -> None:
    """These files are opened now."""
    for counted in _counting:
        counted.extend(files)
