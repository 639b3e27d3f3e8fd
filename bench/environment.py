"""Where a benchmark ran: machine, software, and how busy the machine was."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ivm_core.engine.session import java_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def environment(spark: SparkSession, driver_memory: str) -> dict[str, str]:
    """What a figure depends on besides the code; every bench's result carries it."""
    # Load that was there before the bench began shows whether the machine was shared.
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    return {
        "machine": machine(),
        "software": software(),
        "spark": f"{spark.conf.get('spark.master', 'unknown')}, driver {driver_memory}, "
        f"{spark.conf.get('spark.sql.shuffle.partitions')} shuffle partitions",
        "load_before": load,
        "started_at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }


def peak_memory() -> dict[str, int]:
    """The most that this process and its Java have held so far, in MiB; without what the system does not tell."""
    from pyspark import SparkContext

    gateway = getattr(SparkContext, "_gateway", None)
    processes = {"python": os.getpid(), "java": getattr(getattr(gateway, "proc", None), "pid", None)}
    found = {name: _peak(pid) for name, pid in processes.items() if pid is not None}
    return {name: peak for name, peak in found.items() if peak is not None}


def _peak(pid: int) -> int | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    except OSError:
        return None
    sizes = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(sizes[0]) // 1024 if sizes else None


def machine() -> str:
    """Processor, cores and memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB"


def software() -> str:
    """The versions of what computes."""
    return (
        f"Spark {version('pyspark')}, Delta Lake {version('delta-spark')}, delta-rs {version('deltalake')}, "
        f"Java {java_version()}, Python {platform.python_version()}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
