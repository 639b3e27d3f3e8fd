"""A base table, a view's state, and jobs by hand that are applied to it."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ivm_core.batch.model import CommitClass
from ivm_core.engine.changes import ChangeCache
from ivm_core.engine.execute import run
from ivm_core.engine.log import TableLog
from ivm_core.engine.model import Applied, CommitTag, Relation, StateTarget
from ivm_core.job.model import MaintenanceJob
from ivm_core.settings import Settings
from tests.engine import jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [("a", "1.50"), ("a", "1.50"), ("a", "9.00"), ("b", "2.00"), (None, "3.00"), (None, None), ("c", "0.10")]


class Shop:
    """A base table, a view's state, and batches applied to it."""

    def __init__(self, spark: SparkSession, folder: Path, settings: Settings) -> None:
        self.spark, self.settings = spark, settings
        self.sales, self.state = str(folder / "sales"), str(folder / "state")
        frame = spark.createDataFrame(
            [(item, Decimal(amount) if amount else None) for item, amount in ROWS], "item string, amount decimal(10,2)"
        )
        frame.write.format("delta").option("delta.enableChangeDataFeed", "true").save(self.sales)
        self.relation = Relation(jobs.SALES, self.sales, "id", (("item", "string"), ("amount", "decimal(10,2)")))
        self.number, self.stands = 0, -1

    def version(self) -> int:
        return TableLog(self.sales).version()

    def change(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement.format(t=f"delta.`{self.sales}`")).collect()

    def apply(
        self, job: MaintenanceJob, kind: CommitClass = CommitClass.MUTATING, number: int | None = None
    ) -> Applied:
        self.number = number or self.number + 1
        end = self.version()
        batch = jobs.batch(self.number, self.stands, end, kind)
        with ChangeCache(self.spark, self.settings) as cache:
            applied = run(
                self.spark, job, batch, {jobs.SALES: self.relation}, StateTarget("shop.v", self.state), cache,
                CommitTag("view-1", self.number, f'{{"batch": {self.number}}}'), self.settings,
            )  # fmt: skip
        self.stands = end
        return applied

    def rows(self, location: str | None = None) -> Counter[Any]:
        frame = self.spark.read.format("delta").load(location or self.state)
        shown = [name for name in frame.columns if name not in ("__ivm_batch", "__ivm_row")]
        return Counter(tuple(row) for row in frame.select(*shown).collect())

    def recomputed(self, full: MaintenanceJob) -> Counter[Any]:
        """What the full job's query gives on the base table as it is now."""
        self.spark.read.format("delta").load(self.sales).createOrReplaceTempView("sales_after")
        return Counter(tuple(row) for row in self.spark.sql(full.steps[0].sql).collect())
