"""The netted changes of base tables over version ranges, each read once per group run and kept until its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ivm_core.batch.model import CommitClass, TableRange
from ivm_core.batch.volume import changed_rows
from ivm_core.engine.bindings import Bindings, Names
from ivm_core.engine.failures import SPARK_FAILURES, WHEN_TIDYING
from ivm_core.engine.feed_files import CHANGE_TYPE, feed_frame, read_feed
from ivm_core.engine.handed_over import HANDED_OVER
from ivm_core.engine.log import TableLog
from ivm_core.engine.model import Relation
from ivm_core.engine.needed import read_for_all
from ivm_core.engine.planning import Planning
from ivm_core.engine.queries import frame_of
from ivm_core.engine.same_columns import has_same_columns
from ivm_core.engine.sharing import WORK_CLOCK, ThreadSeconds
from ivm_core.engine.slices import Expected, Slices
from ivm_core.engine.small import HERE, ChangedRows, SmallRelation, compute, held, net_rows
from ivm_core.engine.snapshots import Snapshots, shown
from ivm_core.engine.weighted_rows import (
    ADDED,
    REMOVED,
    WEIGHT_OF_CHANGE,
    all_plain,
    columns_named,
    net,
    selected,
    weight,
)
from ivm_core.plan.nodes import WEIGHT
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = logging.getLogger(__name__)

NOT_LOOKED_UP = 50_000  # rows up to which this process holds changes that no view of the run joins
MOMENT = 0.001  # seconds: what taking a free lock may last
_ADDITIONS = ("insert", "update_postimage")
# The feed was off in the range, or its files or schema no longer allow reading it.
_NO_FEED = ("DELTA_MISSING_CHANGE_DATA", "DELTA_CHANGE_DATA_FEED", "DELTA_CHANGE_TABLE_FEED_DISABLED")


class ChangeCache:
    """What a group run reads of base tables: their changes by range, and their snapshots, shared by its views.

    ``spark`` may be a function: a run that finds nothing to do opens no session. ``needed`` tells which columns all
    views of the run use of a table, so that one reading serves them all; a view that needs a column beyond them
    causes a second reading. ``expected``: what the run is going to do, asked before a large table is read. ``shared``: the
    tables that several views read, whose reading counts to none of them. ``close``, or leaving it as a context manager,
    releases the memory.
    """

    def __init__(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        settings: Settings | None = None,
        needed: Mapping[str, Iterable[str]] | None = None,
        expected: Callable[[], Expected] = Expected,
        shared: Collection[str] = (),
    ) -> None:
        self._source = spark
        self._expect = expected
        self._common = frozenset(shared)
        self.settings = settings or Settings()
        self._needed = {table: {name.lower() for name in names} for table, names in (needed or {}).items()}
        self._read: dict[tuple[str, int, int], tuple[frozenset[str], ChangedRows]] = {}
        self._seconds = ThreadSeconds()
        self._projected: dict[tuple[tuple[str, int, int], frozenset[str]], ChangedRows] = {}
        self._shared: dict[str, DataFrame] = {}
        self._one_reader = threading.RLock()
        self._rows_for_spark = HANDED_OVER.begin()
        self.planning = Planning(lambda: self.spark)
        self.names = Names()  # of the temporary views of one view's batch after another

    @cached_property
    def spark(self) -> SparkSession:
        """The session, opened at first use."""
        return self._source() if callable(self._source) else self._source

    @cached_property
    def bindings(self) -> Bindings:
        """Names that live as long as the cache."""
        return Bindings(self.spark)

    @cached_property
    def snapshots(self) -> Snapshots:
        """Relations at versions."""
        return Snapshots(self.spark, self._needed, self._common)

    @cached_property
    def slices(self) -> Slices:
        """What the run needs of large tables."""
        return Slices(self.spark, self.snapshots, self.changes_of, self._needed, lambda: self._expected, self._common)

    @cached_property
    def _expected(self) -> Expected:
        return self._expect()

    def share(self, frame: DataFrame) -> str:
        """The name of a temporary view of the frame, one for all who ask: one thread at a time."""
        key = f"frame {id(frame)}"
        if key not in self._shared:
            self._shared[key] = frame  # kept: another frame would else come to have its identity, and be taken for it
            self.bindings.bind(key, frame)
        return self.bindings.view(key)

    @property
    def shared_seconds(self) -> float:
        """Time that this thread has spent so far on what several views of the run share, or waited for it.

        That is changes, small tables, slices of large ones.
        """
        parts = [self.__dict__[name] for name in ("snapshots", "slices") if name in self.__dict__]
        return self._seconds.spent + sum(float(part.seconds.spent) for part in parts)

    @contextmanager
    def one_reader(self) -> Iterator[ChangeCache]:
        """The cache, for one thread at a time: another one that asks meanwhile then finds what was read."""
        started = WORK_CLOCK.now()
        with self._one_reader:
            waited = WORK_CLOCK.now() - started
            if waited > MOMENT:
                self._seconds.spent += waited
            yield self

    def __enter__(self) -> ChangeCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, relation: Relation, covered: TableRange, columns: Iterable[str]) -> ChangedRows:
        """The changes of the range with at least ``columns`` (the relation's names, any case), netted over them."""
        wanted = {name.lower() for name in columns}
        key = (relation.name, covered.from_version, covered.to_version)
        if key not in self._read or not wanted <= self._read[key][0]:
            self._forget(key)
            started = WORK_CLOCK.now()
            others = self._needed.get(relation.name, ())
            self._read[key] = read_for_all(wanted, others, partial(self._load, relation, covered))
            if relation.name in self._common:
                self._seconds.spent += WORK_CLOCK.now() - started
        kept, changes = self._read[key]
        if wanted == kept:
            return changes
        if (key, frozenset(wanted)) not in self._projected:
            self._projected[key, frozenset(wanted)] = self._project(relation, changes, wanted)
        return self._projected[key, frozenset(wanted)]

    def changes_of(self, relation: Relation, covered: TableRange, columns: Iterable[str]) -> SmallRelation:
        """The changed rows themselves."""
        return self.read(relation, covered, columns).relation

    def _project(self, relation: Relation, changes: ChangedRows, wanted: set[str]) -> ChangedRows:
        """Fewer columns; what was an update of the others only is no change any more.

        Where nothing cancels and no rows fall together, the whole serves all views: naming a relation takes an answer.
        """
        whole = changes.relation
        if whole.removed == 0:
            return ChangedRows(whole, netted=False)
        names = columns_named(relation, wanted)
        if whole.here is not None:
            netted = net_rows(whole.here.select([*names, WEIGHT]))
            if netted is not None:
                same = changes.netted and netted.num_rows == whole.here.num_rows
                return ChangedRows(whole if same else held(self.spark, netted), netted=True)
        projected = whole.frame.select(*selected(relation, wanted), WEIGHT)
        # Its values are not those of other columns' changes: they prune what is joined with it.
        return ChangedRows(replace(whole, made=net(projected, relation, wanted), values={}), netted=True)

    def close(self) -> None:
        """Release the kept changes and snapshots; the cache may be used again."""
        try:
            with suppress(*WHEN_TIDYING):
                self.planning.close()
                self._shared.clear()
                self.__dict__.pop("_expected", None)
                for key in list(self._read):
                    self._forget(key)
                for name in ("bindings", "slices", "snapshots"):
                    if name in self.__dict__:
                        getattr(self, name).close()
                if "spark" in self.__dict__:
                    self.names.drop(self.spark)
        finally:
            HANDED_OVER.end(self._rows_for_spark)

    def _forget(self, key: tuple[str, int, int]) -> None:
        if key in self._read:
            self._read.pop(key)[1].relation.release()
            for projection in [known for known in self._projected if known[0] == key]:
                del self._projected[projection]

    def _load(self, relation: Relation, covered: TableRange, columns: frozenset[str]) -> ChangedRows:
        if covered.empty:
            nothing = self.snapshots.read(relation, covered.to_version).limit(0)
            empty = nothing.selectExpr(*selected(relation, columns), weight(1))
            return ChangedRows(SmallRelation(empty, 0), netted=True)
        log = TableLog(relation.location, self.spark)
        few = self._is_small(relation, covered, log)
        if not relation.row_wise or not has_same_columns(log, covered, columns):
            return self._compared(relation, covered, columns, few)
        rows = read_feed(relation, covered, columns) if few else None
        if rows is not None:
            return self._from_rows(relation, covered, columns, rows)
        try:
            feed = feed_frame(self.spark, relation, covered)
            feed = self._feed(relation, covered) if feed is None else feed
            frame = self._weighted(relation, covered, columns, feed)
            netted = _is_netted(covered)
            if netted:
                frame = net(frame, relation, columns)
            return ChangedRows(compute(self.spark, frame, few=few and all_plain(relation, columns)), netted)
        except SPARK_FAILURES as error:
            if not any(code in str(error) for code in _NO_FEED):
                raise
            logger.info("%s has no change feed for the range, its versions are compared", relation.name)
        return self._compared(relation, covered, columns, few)

    def _compared(self, relation: Relation, covered: TableRange, columns: frozenset[str], few: bool) -> ChangedRows:
        """R⁺ − R⁻, from the two versions themselves."""
        parts = [
            self.snapshots.read(relation, version).selectExpr(*selected(relation, columns), weight(sign))
            for sign, version in ((1, covered.to_version), (-1, covered.from_version))
        ]
        frame = net(parts[0].unionAll(parts[1]), relation, columns)
        return ChangedRows(compute(self.spark, frame, few=few and all_plain(relation, columns)), netted=True)

    def _is_small(self, relation: Relation, covered: TableRange, log: TableLog) -> bool:
        """Whether the commits' own counts promise few rows: an estimate, at worst the changes are computed twice.

        Where the run only adds the changes up, no key of theirs is asked for: more rows than a few are left to Spark.
        """
        versions = covered.from_version, covered.to_version
        rows = changed_rows(log.commits(*versions)) + log.moved_rows(*versions)
        return rows <= NOT_LOOKED_UP or (rows <= HERE and relation.name in self._expected.looked_up)

    def _from_rows(
        self, relation: Relation, covered: TableRange, columns: frozenset[str], rows: pa.Table
    ) -> ChangedRows:
        """The change feed's ``rows`` weighted and netted; by this process unless equality of their values is Spark's."""
        added = pc.is_in(rows.column(CHANGE_TYPE), value_set=pa.array(_ADDITIONS))
        netted = _is_netted(covered) or not pc.all(added, min_count=0).as_py()
        kept = rows.select([name for name in rows.column_names if name.lower() in columns])
        if relation.visible_sql is None and kept.num_columns == len(columns):
            weights = pc.if_else(added, pa.scalar(1, pa.int64()), pa.scalar(-1, pa.int64()))
            weighted = kept.append_column(WEIGHT, weights)
            here = net_rows(weighted) if netted else weighted
            if here is not None:
                return ChangedRows(held(self.spark, here), netted)
        frame = self._weighted(relation, covered, columns, frame_of(self.spark, rows))
        if netted:
            frame = net(frame, relation, columns)
        return ChangedRows(compute(self.spark, frame, few=all_plain(relation, columns)), netted)

    def _feed(self, relation: Relation, covered: TableRange) -> DataFrame:
        return (
            self.spark.read.format("delta")
            .option("readChangeFeed", "true")
            .option("startingVersion", covered.from_version + 1)
            .option("endingVersion", covered.to_version)
            .load(relation.location)
        )

    def _weighted(self, relation: Relation, covered: TableRange, columns: frozenset[str], feed: DataFrame) -> DataFrame:
        if relation.visible_sql is None:
            return feed.selectExpr(*selected(relation, columns), WEIGHT_OF_CHANGE)
        # The visible SELECT works row by row, so it may see the added and the removed rows one after the other.
        parts = []
        for sign, rows in ((1, feed.where(ADDED)), (-1, feed.where(REMOVED))):
            key = f"{relation.location}@{covered.from_version}-{covered.to_version}:{sign}"
            self.bindings.bind(key, rows)
            part = shown(self.bindings, relation, key)
            parts.append(part.selectExpr(*selected(relation, columns), weight(sign)))
        return parts[0].unionAll(parts[1])


def _is_netted(covered: TableRange) -> bool:
    """Rows that were only added need no netting."""
    return covered.kind is not CommitClass.INSERT_ONLY
