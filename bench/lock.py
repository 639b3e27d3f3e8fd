"""One run at a time in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ivm_core.errors import EnvironmentProblem


@contextmanager
def alone(folder: Path, what: str) -> Iterator[None]:
    """Refuse a second run in the same folder: it would delete the first one's tables. ``what`` names it in the error."""
    from filelock import FileLock, Timeout

    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{folder}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise EnvironmentProblem(f"Another {what} is running in {folder}. Wait for it, or stop it.") from None
    try:
        yield
    finally:
        lock.release()
