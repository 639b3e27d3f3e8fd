"""Leave the classes that Spark and Delta Lake load in a file that Java maps into memory: sessions start in half the time.

A Connect server runs a few statements; at its end Java writes down which classes it had loaded (application class-data
sharing). Without the file, or with one of another Java, everything works, slower.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pyspark.errors import PySparkException

from ivm_core.engine.connect_server import start_connect_server
from ivm_core.engine.java_options import OPTIONS, class_archive
from ivm_core.engine.session import open_session
from ivm_core.errors import IvmError
from ivm_core.settings import Settings

STATEMENTS = (
    "CREATE TABLE sales (id INT, country STRING, amount DECIMAL(12, 2)) USING DELTA "
    "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
    "INSERT INTO sales SELECT id, IF(id % 2 = 0, 'SE', 'NO'), id / 7 FROM range(1000)",
    "MERGE INTO sales USING (SELECT 1 AS id) AS s ON sales.id = s.id WHEN MATCHED THEN DELETE",
    "SELECT c.country, count(*), sum(s.amount) FROM table_changes('sales', 1) AS c JOIN sales VERSION AS OF 1 AS s "
    "ON s.id = c.id GROUP BY c.country",
)


def main() -> int:
    """Write the archive; a failure is told, and is none of the set-up's."""
    target = class_archive()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    print("· noting which classes Spark loads, so that it starts faster", flush=True)
    with tempfile.TemporaryDirectory(prefix=".classes-", dir=target.parent) as folder:
        draft = Path(folder, target.name)
        try:
            load_classes(Path(folder), draft)
            if draft.is_file():
                draft.replace(target)
            else:
                print("  left out: this Java writes no such file", file=sys.stderr)
        except (IvmError, OSError, PySparkException) as error:
            print(f"  left out: {error}", file=sys.stderr)
    return 0


def load_classes(folder: Path, draft: Path) -> None:
    """Run the statements on a server that writes ``draft`` when it ends."""
    options = {OPTIONS: f'"-XX:ArchiveClassesAtExit={draft}" -XX:TieredStopAtLevel=1'}
    with start_connect_server(warehouse=folder / "tables", driver_memory="1g", conf=options) as url:
        spark = open_session(Settings.load(catalog="sqlite://", spark={"master": url}))
        try:
            for statement in STATEMENTS:
                spark.sql(statement).collect()
        finally:
            # Before the server ends: to a dead one the client would say goodbye for ten minutes.
            spark.stop()


if __name__ == "__main__":
    sys.exit(main())
