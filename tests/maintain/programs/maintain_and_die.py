"""Maintain all views of a deployment, and die by SIGKILL at one named point of the protocol.

Arguments: master (``local[2]`` or ``sc://…``), catalogue URL, warehouse, point (``before:`` or ``after:`` and a function),
how many calls of that function are let through first, and, to go back in time first, the instant.
"""

import importlib
import os
import signal
import sys
from datetime import datetime
from typing import Any

from ivm_core import Engine
from ivm_core.settings import Settings


def die_at(point: str, skip: int) -> None:
    when, _, path = point.partition(":")
    module_name, _, attribute = path.rpartition(".")
    try:
        owner: Any = importlib.import_module(module_name)
    except ModuleNotFoundError:
        module_name, _, class_name = module_name.rpartition(".")
        owner = getattr(importlib.import_module(module_name), class_name)
    original = getattr(owner, attribute)
    calls = 0

    def killing(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls <= skip:
            return original(*args, **kwargs)
        if when == "after":
            original(*args, **kwargs)
        sys.stdout.write("dying\n")
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    setattr(owner, attribute, killing)


def main(master: str, catalog: str, warehouse: str, point: str, skip: str, rewind_to: str = "") -> None:
    settings = Settings.load(
        catalog=catalog,
        warehouse=warehouse,
        spark={"master": master, "driver_memory": "1g", "shuffle_partitions": 2},
    )
    die_at(point, int(skip))
    with Engine.open(settings=settings) as engine:
        if rewind_to:
            engine.maintain(mode="rewind", as_of=datetime.fromisoformat(rewind_to))
        else:
            engine.maintain()
    sys.stdout.write("survived\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
