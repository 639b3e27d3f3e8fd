"""What a group run needs of a large table, read in one scan: the rows that any of the batch's changed keys can meet.

Every term of every view that joins changes with a large table would scan it again. Which keys they will come with is
known from the views' join graphs before any of them runs: the changed rows of the other tables, and the rows that these
meet in other large tables. A slice is the union of the rows with such keys; a term whose own keys are among them reads
the slice. Whether they are is looked up each time, so a wrong expectation costs a scan and never a row.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from ivm_core.batch.model import TableRange
from ivm_core.engine.failures import SPARK_FAILURES
from ivm_core.engine.key_rows import KeyRows, KeySet, comparable, having, keys_of, read_key_rows
from ivm_core.engine.keys_here import distinct_rows
from ivm_core.engine.looked_up import Keys, with_keys
from ivm_core.engine.model import Relation
from ivm_core.engine.queries import fetch_few
from ivm_core.engine.sharing import WORK_CLOCK, ThreadSeconds
from ivm_core.engine.small import HERE, SmallRelation
from ivm_core.engine.snapshots import Snapshots, quoted
from ivm_core.errors import IvmError
from ivm_core.job.facts import LARGE, TableFacts, fan_out
from ivm_core.plan.join_graph import JoinEdge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = logging.getLogger(__name__)

MOST_ROWS = 500_000  # rows that one set of keys may be expected to meet: past it, each term reads for itself

_UNREADABLE: tuple[type[Exception], ...] = (IvmError, *SPARK_FAILURES)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run is going to do: how its views join tables, and the tables' changes, sizes and keys, by table."""

    edges: tuple[JoinEdge, ...] = ()
    ranges: Mapping[str, TableRange] = field(default_factory=dict)
    relations: Mapping[str, Relation] = field(default_factory=dict)
    facts: Mapping[str, TableFacts] = field(default_factory=dict)
    readers: Mapping[str, int] = field(default_factory=dict)  # how many views read the table
    looked_up: frozenset[str] = frozenset()  # tables whose changes are joined with rows of a table, their own included


class Slices:
    """The slices of one run, each read when first asked for, and kept in memory until ``close``.

    ``changes``: the changed rows of a table over a range. ``needed``: the columns of each table that the run reads;
    ``shared``: the tables that several views read.
    """

    def __init__(
        self,
        spark: SparkSession,
        snapshots: Snapshots,
        changes: Callable[[Relation, TableRange, Iterable[str]], SmallRelation],
        needed: Mapping[str, set[str]],
        expected: Callable[[], Expected],
        shared: Collection[str],
    ) -> None:
        self.spark = spark
        self.seconds = ThreadSeconds()  # on slices for several views; reading changes is counted where they are kept
        self._shared = shared
        self._seconds_of_changes = 0.0
        self._snapshots = snapshots
        self._changes = changes
        self._needed = needed
        self._expect = expected
        self._read: dict[tuple[str, int, bool], KeyRows | None] = {}
        self._sources_of: dict[str, set[str]] = {}

    def find(
        self, relation: Relation, version: int, columns: Iterable[str], wanted: Keys, *, once: bool = False
    ) -> DataFrame | None:
        """Rows of the table at the version, all those with the wanted keys among them; None where no slice has them.

        ``once``: the view reads the table at this version this one time, so that a slice would serve other views only.
        """
        if not wanted or relation.visible_sql is not None or (relation.rows is not None and relation.rows < LARGE):
            return None
        if once and (relation.name, version, False) not in self._read and not self._serves_many(relation.name):
            return None
        started, others = WORK_CLOCK.now(), self._seconds_of_changes
        frame = None
        for inwards in (False, True):
            found = self._slice(relation.name, version, inwards)
            if found is not None and found.covers(wanted, {name.lower() for name in columns}):
                frame = found.frame
                break
        if relation.name in self._shared:
            self.seconds.spent += WORK_CLOCK.now() - started - (self._seconds_of_changes - others)
        return frame

    def close(self) -> None:
        """Release the memory."""
        for found in self._read.values():
            if found is not None:
                found.frame.unpersist()
        self._read.clear()
        self._sources_of.clear()

    @property
    def _expected(self) -> Expected:
        """Asked when a large table is first read."""
        return self._expect()

    def _serves_many(self, name: str) -> bool:
        """Whether more than one view reads the table."""
        return self._expected.readers.get(name, 0) > 1

    def _slice(self, name: str, version: int, inwards: bool = False) -> KeyRows | None:
        """The rows that changes meet on the way out to the largest table, or those that its slice meets on the way back."""
        key = (name, version, inwards)
        if key not in self._read:
            self._read[key] = None
            relation, covered = self._expected.relations.get(name), self._expected.ranges.get(name)
            if relation is not None and covered is not None and version in (covered.from_version, covered.to_version):
                try:
                    parts, needed = self._parts(name, version, covered, inwards), self._needed.get(name, set())
                    if parts:
                        self._read[key] = read_key_rows(self.spark, self._snapshots, relation, version, parts, needed)
                except _UNREADABLE as error:
                    # It may be another view's table that cannot be read: each view finds out for itself.
                    logger.info("%s is not read in one scan: %s", name, type(error).__name__)
        return self._read[key]

    def _parts(self, name: str, version: int, covered: TableRange, inwards: bool) -> list[KeySet]:
        """The sets of keys that will be asked for, but for those that another one has."""
        newest = version == covered.to_version
        if not inwards:
            return _distinct([*self._from_changes(name), *self._from_slices(name, newest, inwards)])
        if not self._serves_many(name):
            return []  # finding the keys takes as long as the one view's own scan
        outwards = self._slice(name, version)
        return _distinct(self._from_slices(name, newest, inwards), outwards.sets if outwards is not None else ())

    def _from_changes(self, name: str) -> Iterable[KeySet]:
        """The keys of the changed rows of the tables that it is joined with."""
        for edge in self._edges(name):
            covered, relation = self._expected.ranges.get(edge.other), self._expected.relations.get(edge.other)
            if covered is None or relation is None or covered.empty or not self._comparable(edge):
                continue
            needed = self._needed.get(edge.other, set()) | set(edge.other_columns)
            started = WORK_CLOCK.now()
            rows = self._changes(relation, covered, needed).here
            self._seconds_of_changes += WORK_CLOCK.now() - started
            if rows is not None and self._meets_few(edge, rows):
                yield KeySet(self._keys(edge, rows), frozenset({edge.other}))

    def _from_slices(self, name: str, newest: bool, inwards: bool) -> Iterable[KeySet]:
        """The keys of the rows that other tables' changes meet in smaller large tables; ``inwards``: in larger ones."""
        for edge in self._edges(name):
            covered = self._expected.ranges.get(edge.other)
            size = self._facts(edge.other).size
            larger = (size, edge.other) > (self._facts(name).size, name)
            if covered is None or size < LARGE or larger is not inwards or not self._comparable(edge):
                continue
            if self._sources(edge.other) <= {name}:
                continue  # the rows that the table's own changes meet say nothing new of it
            if inwards:
                through = self._read.get((edge.other, covered.to_version, False))
            else:
                through = self._slice(edge.other, covered.to_version if newest else covered.from_version)
            if through is None or not set(edge.other_columns) <= through.columns:
                continue
            for part in through.sets:
                if name in part.sources:
                    continue
                rows = self._with_keys(through, part, edge.other_columns)
                if rows is not None and self._meets_few(edge, rows):
                    yield KeySet(self._keys(edge, rows), part.sources)

    def _sources(self, name: str) -> set[str]:
        """The tables whose changes may give keys to the slice of a table, straight or through smaller large ones."""
        if name not in self._sources_of:
            found: set[str] = set()
            for edge in self._edges(name):
                covered = self._expected.ranges.get(edge.other)
                if covered is not None and not covered.empty:
                    found.add(edge.other)
                size = self._facts(edge.other).size
                if size >= LARGE and (size, edge.other) < (self._facts(name).size, name):
                    found |= self._sources(edge.other)
            self._sources_of[name] = found
        return self._sources_of[name]

    def _edges(self, name: str) -> list[JoinEdge]:
        return [edge for edge in self._expected.edges if edge.table == name != edge.other]

    def _comparable(self, edge: JoinEdge) -> bool:
        """Values of the other's columns can be looked up in the table's."""
        own, others = self._types(edge.table), self._types(edge.other)
        return all(
            comparable(others.get(other, ""), own.get(column, ""))
            for column, other in zip(edge.columns, edge.other_columns, strict=True)
        )

    def _keys(self, edge: JoinEdge, rows: pa.Table) -> Keys:
        """The values of the other's columns as keys of the table; the two are comparable."""
        own, others = self._types(edge.table), self._types(edge.other)
        actual = {name.lower(): name for name in rows.column_names}
        pairs = zip(edge.columns, edge.other_columns, strict=True)
        return {name: keys_of(rows.column(actual[other]), others[other], own[name]) for name, other in pairs}

    def _types(self, name: str) -> dict[str, str]:
        return {column.lower(): type_ for column, type_ in self._expected.relations[name].columns}

    def _facts(self, name: str) -> TableFacts:
        return self._expected.facts.get(name, TableFacts())

    def _meets_few(self, edge: JoinEdge, rows: pa.Table) -> bool:
        """Declared keys tell that the rows meet no large part of the table."""
        average = fan_out(self._facts(edge.table), edge.columns, self._facts(edge.other), edge.other_columns)
        return bool(average * rows.num_rows <= MOST_ROWS)

    def _with_keys(self, through: KeyRows, part: KeySet, columns: Sequence[str]) -> pa.Table | None:
        """The distinct columns of the rows with the part's keys; None where they are many."""
        if through.here is not None:
            actual = {name.lower(): name for name in through.here.column_names}
            rows = with_keys(through.here, part.keys).select([actual[name] for name in columns])
            rows = distinct_rows(rows)
            return rows if rows.num_rows <= HERE else None
        found = having(self.spark, through.frame, [part], [part.bounds(through.types)])
        distinct = fetch_few(found.select(*(quoted(name) for name in columns)).distinct(), HERE)
        return distinct[0] if distinct is not None else None


def _distinct(parts: Iterable[KeySet], known: Sequence[KeySet] = ()) -> list[KeySet]:
    """Without parts whose rows another one, or a known one, has."""
    kept: list[KeySet] = []
    for part in sorted(parts, key=lambda part: -sum(len(values) for values in part.keys.values())):
        if not any(other.covers(part.keys) for other in (*known, *kept)):
            kept.append(part)
    return kept
