"""A large table's rows with the same keys before and after the batch, in one scan instead of two.

Where groups, partitions or matches are computed anew, a job reads R⁺ ⋉ K and R⁻ ⋉ K. The one is read, and the other
follows: R⁻ ⋉ K = (R⁺ ⋉ K) − (ΔR ⋉ K), and ΔR is in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ivm_core.batch.model import TableRange
from ivm_core.engine.key_rows import KeyRows, KeySet, read_key_rows
from ivm_core.engine.looked_up import Keys, with_keys
from ivm_core.engine.model import Relation
from ivm_core.engine.queries import frame_of
from ivm_core.engine.small import SmallRelation, net_rows
from ivm_core.engine.snapshots import Snapshots
from ivm_core.job.facts import LARGE
from ivm_core.job.model import Bound, Input, Slice
from ivm_core.plan.nodes import WEIGHT
from ivm_core.plan.types import is_comparable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Place = tuple[str, frozenset[Bound]]


class BothStates:
    """Of one batch's inputs, those that read a table in both states by the same keys. ``close`` releases the memory.

    ``changes``: the changed rows of a table over a range.
    """

    def __init__(
        self,
        spark: SparkSession,
        snapshots: Callable[[], Snapshots],
        changes: Callable[[Relation, TableRange, Iterable[str]], SmallRelation],
    ) -> None:
        self._spark = spark
        self._snapshots = snapshots
        self._changes = changes
        self._columns: dict[str, set[str]] = {}  # by table
        self._states: Counter[Place] = Counter()
        self._reads: Counter[tuple[str, Slice]] = Counter()
        self._after: dict[str, list[KeyRows]] = {}  # by table
        self._before: dict[int, DataFrame | None] = {}

    def expect(self, inputs: Sequence[Input]) -> None:
        """Take note of what the batch is going to read."""
        for item in inputs:
            if item.slice in (Slice.BEFORE, Slice.AFTER) and item.bounds:
                place = _place(item)
                self._states[place] += 1  # one input for each state
                self._reads[item.table, item.slice] += 1
                self._columns.setdefault(item.table, set()).update(column.source.lower() for column in item.columns)

    def reads_once(self, item: Input) -> bool:
        """Whether no other input of the batch shows the table in this state."""
        return self._reads[item.table, item.slice] < 2

    def find(self, item: Input, relation: Relation, covered: TableRange, keys: Keys) -> DataFrame | None:
        """The rows that the input shows, all those with the keys among them; None where it is better read by itself."""
        if not keys or covered.empty or relation.visible_sql is not None:
            return None
        if relation.rows is not None and relation.rows < LARGE:
            return None
        if any(len(values) == 0 for values in keys.values()):
            return None  # no file is opened for them anyway
        rows = self._after_batch(item, relation, covered, keys)
        if rows is None:
            return None
        if item.slice is Slice.AFTER:
            return rows.frame
        if id(rows) not in self._before:
            self._before[id(rows)] = self._earlier(relation, covered, rows)
        return self._before[id(rows)]

    def close(self) -> None:
        """Release the memory."""
        for read in self._after.values():
            for rows in read:
                rows.frame.unpersist()
        self._after.clear()
        self._before.clear()

    def _after_batch(self, item: Input, relation: Relation, covered: TableRange, keys: Keys) -> KeyRows | None:
        """Rows read before that have the keys, else read now where both states are asked for."""
        read = self._after.setdefault(relation.name, [])
        own = {column.source.lower() for column in item.columns}
        found = next((rows for rows in read if rows.covers(keys, own)), None)
        if found is None and self._states[_place(item)] > 1:
            version = covered.to_version
            found = read_key_rows(
                self._spark, self._snapshots(), relation, version, [KeySet(keys)], self._columns[item.table]
            )
            read.append(found)
        return found

    def _earlier(self, relation: Relation, covered: TableRange, rows: KeyRows) -> DataFrame | None:
        """The rows before the batch; None where only Spark can tell which of them are equal."""
        types = {name: type_ for name, type_ in rows.types.items() if name in rows.columns}
        if not all(is_comparable(type_) and not _has_floats(type_) for type_ in types.values()):
            return None
        changed = self._changes(relation, covered, rows.columns).here
        if changed is None:
            return None
        changed = with_keys(changed, rows.sets[0].keys)
        if rows.here is not None:
            return frame_of(self._spark, _without_changes(rows.here, changed))
        added, removed = _added_and_removed(changed, rows.frame.columns)
        frame = rows.frame
        if added.num_rows:
            frame = frame.exceptAll(frame_of(self._spark, added))
        if removed.num_rows:
            frame = frame.unionAll(frame_of(self._spark, removed))
        return frame


def _place(item: Input) -> Place:
    return item.table, frozenset(item.bounds)


def _added_and_removed(changed: pa.Table, names: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """The rows added and those taken away, each as often as its weight says; columns ``names``."""
    selected = _selected(changed, names)
    weights = changed.column(WEIGHT).to_numpy()
    rows = np.arange(len(weights))
    added, removed = (selected.take(pa.array(np.repeat(rows, np.maximum(sign * weights, 0)))) for sign in (1, -1))
    return added, removed


def _without_changes(rows: pa.Table, changed: pa.Table) -> pa.Table:
    """The rows before the changes, which have weights; none of the columns has floating-point numbers."""
    before = _selected(changed, rows.column_names).cast(rows.schema)
    weights = pc.negate(changed.column(WEIGHT))
    found = net_rows(
        pa.concat_tables(
            [
                rows.append_column(WEIGHT, pa.repeat(pa.scalar(1, weights.type), rows.num_rows)),
                before.append_column(WEIGHT, weights),
            ]
        )
    )
    assert found is not None, "rows with floating-point numbers are left to Spark"
    copies = np.repeat(np.arange(found.num_rows), np.maximum(found.column(WEIGHT).to_numpy(), 0))
    return found.select(rows.column_names).take(pa.array(copies))


def _selected(changed: pa.Table, names: Sequence[str]) -> pa.Table:
    """Columns of the changed rows under these names, which may differ in case."""
    actual = {name.lower(): name for name in changed.column_names}
    return changed.select([actual[name.lower()] for name in names]).rename_columns(list(names))


def _has_floats(type_: str) -> bool:
    """Of 0.0 and −0.0, which are equal, either might be taken away."""
    return "float" in type_ or "double" in type_
