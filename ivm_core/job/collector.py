"""Python's cyclic garbage collector, held still while a job is built."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_holders = 0


@contextmanager
def collector_paused() -> Iterator[None]:
    """Collect no garbage inside; several threads may be inside at once, the last to leave lets it go on.

    The trees of a large job are hundreds of thousands of objects that all live until the job is written. Each full
    collection looks at every one of them, finds nothing, and takes longer than the one before. Where the collector was
    off, it stays off.
    """
    global _holders
    with _lock:
        ours = bool(_holders) or gc.isenabled()
        _holders += ours
        if ours:
            gc.disable()
    try:
        yield
    finally:
        if ours:
            with _lock:
                _holders -= 1
                if not _holders:
                    gc.enable()
