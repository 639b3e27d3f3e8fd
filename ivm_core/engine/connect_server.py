"""A Spark Connect server of one's own, for tests and the demonstration: started, awaited, and stopped again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ivm_core.engine.session import APPLICATION_CONF, LOCAL_CONF, SESSION_CONF, check_java, delta_conf
from ivm_core.errors import EnvironmentProblem

_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def start_connect_server(
    *,
    warehouse: str | Path,
    master: str = "local[*]",
    driver_memory: str = "2g",
    port: int | None = None,
    conf: Mapping[str, str] | None = None,
    log: Path | None = None,
    wait_seconds: float = 120.0,
) -> Iterator[str]:
    """Run a server with Delta Lake on a loopback port and yield its ``sc://`` URL; it ends with the block.

    ``port`` None: any free one. ``log``: the file that takes its output. Raises ``EnvironmentProblem`` where it does not start.
    """
    check_java()
    port = port or free_port()
    settings = APPLICATION_CONF | LOCAL_CONF | SESSION_CONF
    settings |= {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.driver.memory": driver_memory,
        **(conf or {}),
    }
    settings = delta_conf(settings, local=master.startswith("local"))
    command = [str(_spark_submit()), "--class", _CLASS, "--master", master, "--driver-memory", driver_memory]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    sink = log.open("ab") if log else None
    process = subprocess.Popen(
        [*command, "spark-internal"],
        stdin=subprocess.DEVNULL,
        stdout=sink or subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        # A session of its own: an interrupt at the terminal reaches this process, which stops the server in order.
        start_new_session=True,
        env=_environment(),
    )
    try:
        _await_port(process, port, wait_seconds, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        _stop(process)
        if sink:
            sink.close()


def free_port() -> int:
    """A TCP port on the loopback address that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _spark_submit() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent / "bin" / "spark-submit"


def _environment() -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if key not in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
    }
    return kept | {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(_spark_submit().parent.parent)}


def _await_port(process: subprocess.Popen[bytes], port: int, wait_seconds: float, log: Path | None) -> None:
    deadline = time.monotonic() + wait_seconds
    hint = f" Its output is in {log}." if log else ""
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise EnvironmentProblem(f"The Spark Connect server ended with code {process.returncode}.{hint}")
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise EnvironmentProblem(f"The Spark Connect server did not listen within {wait_seconds:.0f} seconds.{hint}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(60)  # a server that archives its classes takes some seconds more
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
