"""Jobs by hand over two small tables, for tests of how they are run."""

from __future__ import annotations

from ivm_core.batch.model import Batch, CommitClass, TableRange
from ivm_core.cost.model import Reason, Strategy
from ivm_core.job.model import (
    RECOMPUTED_KEYS,
    VANISHED,
    Bound,
    Combine,
    Input,
    InputColumn,
    MaintenanceJob,
    MergeColumn,
    Slice,
    Step,
    Write,
    WriteKind,
)

SALES = "shop.sales"
COLUMNS = (InputColumn("item", "item", "string"), InputColumn("amount", "amount", "decimal(10,2)"))
CHANGED = Input("sales_changes", SALES, Slice.CHANGES, COLUMNS)
AFTER = Input("sales_after", SALES, Slice.AFTER, COLUMNS)


def batch(number: int, start: int, end: int, kind: CommitClass = CommitClass.MUTATING, table: str = SALES) -> Batch:
    """Batch ``number`` over versions (start, end] of one table."""
    return Batch("shop.v", number, (TableRange(table, "id", start, end, kind),), "f")


def job(write: Write, inputs: tuple[Input, ...], *steps: Step) -> MaintenanceJob:
    """A job with what a test does not care about filled in."""
    return MaintenanceJob("shop.v", "f", Strategy.INCREMENTAL, Reason.LINEAR, (SALES,), inputs, steps, write)


FULL_BAG = job(
    Write(WriteKind.OVERWRITE, "state", columns=("item", "amount"), identified=True),
    (AFTER,),
    Step("state", "SELECT item, amount FROM sales_after WHERE amount > 1", materialize=False),
)
BAG = job(
    Write(WriteKind.BAG, "view_changes", columns=("item", "amount")),
    (CHANGED,),
    Step(
        "view_changes",
        "SELECT item, amount, SUM(__ivm_weight) AS __ivm_weight FROM sales_changes WHERE amount > 1 "
        "GROUP BY item, amount HAVING SUM(__ivm_weight) <> 0",
    ),
)

_STATE = (
    "item, COUNT(*) AS __ivm_count, COALESCE(SUM(amount), 0) AS total, MIN(amount) AS least, MAX(amount) AS greatest"
)
_GROUP_COLUMNS = ("item", "__ivm_count", "total", "least", "greatest")
FULL_GROUPS = job(
    Write(WriteKind.OVERWRITE, "state", columns=_GROUP_COLUMNS),
    (AFTER,),
    Step(
        "state",
        "SELECT item, COUNT(*) AS __ivm_count, CAST(COALESCE(SUM(amount), 0) AS DECIMAL(20,2)) AS total, "
        "MIN(amount) AS least, MAX(amount) AS greatest FROM sales_after GROUP BY item",
        materialize=False,
    ),
)
MERGE = job(
    Write(
        WriteKind.MERGE_GROUPS,
        "group_changes",
        keys=("item",),
        columns=_GROUP_COLUMNS,
        merge=(
            MergeColumn("__ivm_count", Combine.ADD, "bigint"),
            MergeColumn("total", Combine.ADD, "decimal(20,2)"),
            MergeColumn("least", Combine.LEAST, "decimal(10,2)", "least_deleted"),
            MergeColumn("greatest", Combine.GREATEST, "decimal(10,2)", "greatest_deleted"),
        ),
        count="__ivm_count",
        recompute=Step(
            "recomputed_groups",
            "SELECT item, COUNT(*) AS __ivm_count, CAST(COALESCE(SUM(amount), 0) AS DECIMAL(20,2)) AS total, "
            "MIN(amount) AS least, MAX(amount) AS greatest FROM sales_again LEFT SEMI JOIN "
            f"(SELECT item AS wanted FROM {RECOMPUTED_KEYS}) ON item IS NOT DISTINCT FROM wanted GROUP BY item",
        ),
        recompute_inputs=(
            Input("sales_again", SALES, Slice.AFTER, COLUMNS, (Bound("item", RECOMPUTED_KEYS, "item", True),)),
        ),
    ),
    (CHANGED,),
    Step(
        "group_changes",
        "SELECT item, SUM(__ivm_weight) AS __ivm_count, "
        "CAST(COALESCE(SUM(amount * __ivm_weight), 0) AS DECIMAL(20,2)) AS total, "
        "MIN(CASE WHEN __ivm_weight > 0 THEN amount END) AS least, "
        "MAX(CASE WHEN __ivm_weight > 0 THEN amount END) AS greatest, "
        "MIN(CASE WHEN __ivm_weight < 0 THEN amount END) AS least_deleted, "
        "MAX(CASE WHEN __ivm_weight < 0 THEN amount END) AS greatest_deleted FROM sales_changes GROUP BY item",
    ),
)

FULL_REPLACED = job(
    Write(WriteKind.OVERWRITE, "state", columns=("item", "middle")),
    (AFTER,),
    Step("state", "SELECT item, MEDIAN(amount) AS middle FROM sales_after GROUP BY item", materialize=False),
)
REPLACE = job(
    Write(WriteKind.REPLACE_GROUPS, "group_rows", keys=("item",), columns=("item", "middle")),
    (
        CHANGED,
        Input("sales_touched", SALES, Slice.AFTER, COLUMNS, (Bound("item", "touched", "item", True),)),
    ),
    Step("touched", "SELECT DISTINCT item FROM sales_changes"),
    Step(
        "group_rows",
        "SELECT touched.item, middle, present IS NULL AS "
        f"{VANISHED} FROM touched LEFT JOIN (SELECT item, MEDIAN(amount) AS middle, TRUE AS present FROM sales_touched "
        "GROUP BY item) AS fresh ON touched.item IS NOT DISTINCT FROM fresh.item",
    ),
)
