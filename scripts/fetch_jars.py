"""Put Delta's JARs into share/ivm/jars of this environment, once; sessions then start without a network.

Spark's own Ivy resolves them, so that mirrors, proxies and caches set up for Spark (``spark.jars.ivySettings`` in
``spark-defaults.conf``) hold here as well. What Spark brings along itself is left out. Each file must have the
checksum written below: another content under the same name is refused.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"
SHA256 = {
    "delta-spark_4.2_2.13-4.4.0.jar": "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
    "delta-storage-4.4.0.jar": "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
    "delta-kernel-api-4.4.0.jar": "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11",
    "delta-kernel-defaults-4.4.0.jar": "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
}
# Part of Spark already, or for Unity Catalog only.
EXCLUDED = (
    "com.fasterxml.jackson.core:*",
    "com.fasterxml.jackson.datatype:*",
    "com.github.luben:*",
    "commons-pool:*",
    "io.airlift:*",
    "io.unitycatalog:*",
    "io.delta:delta-kernel-unitycatalog",
    "org.apache.hadoop:*",
    "org.apache.logging.log4j:*",
    "org.apache.parquet:*",
    "org.locationtech.jts:*",
    "org.roaringbitmap:*",
    "org.slf4j:*",
    "org.xerial.snappy:*",
)
FOLDER = Path(sys.prefix, "share", "ivm", "jars")


def main() -> int:
    """Fetch, check and try the JARs; nothing to do where they are in place."""
    if version("delta-spark") != DELTA.rsplit(":", 1)[1]:
        return fail(f"delta-spark {version('delta-spark')} is installed but {DELTA} is listed in {Path(__file__).name}")
    if all(is_whole(FOLDER / name) for name in SHA256):
        return 0
    print("· fetching Delta's JARs", flush=True)
    with tempfile.TemporaryDirectory(prefix="ivm-jars-") as scratch:
        output = resolve(Path(scratch))
        found = {name: next(Path(scratch, "ivy", "jars").glob(f"*_{name}"), None) for name in SHA256}
        if missing := [name for name, path in found.items() if path is None]:
            print(output, file=sys.stderr)
            return fail(
                f"{', '.join(missing)} could not be fetched from Maven Central (see above). Behind a proxy, "
                "set HTTPS_PROXY; for a mirror, set spark.jars.ivySettings in a spark-defaults.conf and SPARK_CONF_DIR "
                "to its folder."
            )
        if broken := [name for name, path in found.items() if path and not is_whole(path, name)]:
            return fail(
                f"{', '.join(broken)}: not the file that was expected (its SHA-256 differs); nothing was installed."
            )
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, path in found.items():
            assert path is not None
            part = FOLDER / f".{name}.part"
            shutil.copyfile(path, part)
            part.replace(FOLDER / name)
    print("· trying a session with them", flush=True)
    return try_session()


def is_whole(path: Path, name: str = "") -> bool:
    """True where the file is there with the listed content."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == SHA256[name or path.name]


def resolve(scratch: Path) -> str:
    """Let spark-submit resolve the JARs into ``scratch/ivy`` for an application that does nothing; its messages."""
    application = scratch / "nothing.py"
    application.write_text("")
    command = [
        str(Path(sys.executable).parent / "spark-submit"),
        *("--master", "local[1]", "--packages", DELTA, "--exclude-packages", ",".join(EXCLUDED)),
        *("--conf", f"spark.jars.ivy={scratch / 'ivy'}"),
        str(application),
    ]
    done = subprocess.run(command, env=spark_environment(), capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def spark_environment() -> dict[str, str]:
    """The environment with this Python, and with HTTPS_PROXY told to Java too, which does not read it by itself."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    environment.pop("SPARK_HOME", None)
    proxy = urlsplit(os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy") or "")
    if proxy.hostname and "proxyHost" not in os.environ.get("JAVA_TOOL_OPTIONS", ""):
        options = f"-Dhttps.proxyHost={proxy.hostname} -Dhttps.proxyPort={proxy.port or 80}"
        environment["JAVA_TOOL_OPTIONS"] = f"{os.environ.get('JAVA_TOOL_OPTIONS', '')} {options}".strip()
    return environment


TRIAL = """
import sys
from pyspark.sql import SparkSession
jars, folder = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", jars)
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "1g")
    .config("spark.sql.warehouse.dir", folder)
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.databricks.delta.snapshotPartitions", "1")
    .config("spark.sql.shuffle.partitions", "1")
    .getOrCreate()
)
spark.sql("CREATE TABLE trial (a INT) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
spark.sql("INSERT INTO trial VALUES (1), (2)")
spark.sql("MERGE INTO trial USING (SELECT 1 AS a) AS s ON trial.a = s.a WHEN MATCHED THEN DELETE")
assert spark.sql("SELECT count(*) FROM table_changes('trial', 0)").first()[0] == 3
spark.stop()
"""


def try_session() -> int:
    """Write and read a Delta table with these JARs only; on failure the JARs are removed again."""
    jars = ",".join(str(FOLDER / name) for name in SHA256)
    with tempfile.TemporaryDirectory(prefix="ivm-trial-") as folder:
        command = [sys.executable, "-c", TRIAL, jars, folder]
        environment = spark_environment()
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        for name in SHA256:
            (FOLDER / name).unlink(missing_ok=True)
        print(done.stderr, file=sys.stderr)
        return fail("A Spark session with the fetched JARs did not work (see above); they were removed again.")
    return 0


def fail(message: str) -> int:
    """Print one paragraph; the exit code of an environment that is not right."""
    print(f"\n{message}\n", file=sys.stderr)
    return 9


if __name__ == "__main__":
    sys.exit(main())
