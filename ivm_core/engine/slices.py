"""What a group run needs of a large table, read in one scan: the rows that any of the batch's changed keys can meet.

Every term of every view that joins changes with a large table would scan it again. Which keys they will come with is
known from the views' join graphs before any of them runs: the changed rows of the other tables, and the rows that these
meet in other large tables. A slice is the union of the rows with such keys; a term whose own keys are among them reads
the slice. Whether they are is looked up each time, so a wrong expectation costs a scan and never a row.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ivm_core.apply.names import all_of, col
from ivm_core.batch.model import TableRange
from ivm_core.engine.failures import SPARK_FAILURES
from ivm_core.engine.literals import family
from ivm_core.engine.model import Relation
from ivm_core.engine.plain_files import Bounds
from ivm_core.engine.queries import fetch, frame_of
from ivm_core.engine.sharing import ThreadSeconds
from ivm_core.engine.small import HERE, SmallRelation, predicate, values_of
from ivm_core.engine.snapshots import Snapshots, quoted
from ivm_core.errors import IvmError
from ivm_core.job.chains import LARGE, TableFacts, fan_out
from ivm_core.plan.join_graph import JoinEdge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = logging.getLogger(__name__)

MOST_ROWS = 500_000  # rows that one set of keys may be expected to meet: past it, each term reads for itself
CAP = 1000  # keys in one literal IN list; more are joined

_UNREADABLE: tuple[type[Exception], ...] = (IvmError, *SPARK_FAILURES)

Keys = Mapping[str, pa.Array]  # distinct values by column: a row is meant where every column has one of its values


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run is going to do: how its views join tables, and the tables' changes, sizes and keys, by table."""

    edges: tuple[JoinEdge, ...] = ()
    ranges: Mapping[str, TableRange] = field(default_factory=dict)
    relations: Mapping[str, Relation] = field(default_factory=dict)
    facts: Mapping[str, TableFacts] = field(default_factory=dict)
    readers: Mapping[str, int] = field(default_factory=dict)  # how many views read the table


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows with these keys; ``sources``: the tables whose changes they come from."""

    keys: Keys
    sources: frozenset[str]

    def covers(self, wanted: Keys) -> bool:
        return all(name in wanted and _within(wanted[name], values) for name, values in self.keys.items())


@dataclass(frozen=True, slots=True)
class _Slice:
    columns: frozenset[str]
    types: Mapping[str, str]
    parts: tuple[_Part, ...]
    frame: DataFrame

    def covers(self, wanted: Keys, columns: set[str]) -> bool:
        return columns <= self.columns and any(part.covers(wanted) for part in self.parts)


class Slices:
    """The slices of one run, each read when first asked for, and kept in memory until ``close``.

    ``changes``: the changed rows of a table over a range. ``needed``: the columns of each table that the run reads.
    """

    def __init__(
        self,
        spark: SparkSession,
        snapshots: Snapshots,
        changes: Callable[[Relation, TableRange, Iterable[str]], SmallRelation],
        needed: Mapping[str, set[str]],
        expected: Callable[[], Expected],
    ) -> None:
        self.spark = spark
        self.seconds = ThreadSeconds()  # on slices; reading changes is counted where they are kept
        self._seconds_of_changes = 0.0
        self._snapshots = snapshots
        self._changes = changes
        self._needed = needed
        self._expect = expected
        self._read: dict[tuple[str, int, bool], _Slice | None] = {}

    def find(self, relation: Relation, version: int, columns: Iterable[str], wanted: Keys) -> DataFrame | None:
        """Rows of the table at the version, all those with the wanted keys among them; None where no slice has them."""
        if not wanted or relation.visible_sql is not None or (relation.rows is not None and relation.rows < LARGE):
            return None
        started, others = time.monotonic(), self._seconds_of_changes
        frame = None
        for inwards in (False, True):
            found = self._slice(relation.name, version, inwards)
            if found is not None and found.covers(wanted, {name.lower() for name in columns}):
                frame = found.frame
                break
        self.seconds.spent += time.monotonic() - started - (self._seconds_of_changes - others)
        return frame

    def close(self) -> None:
        """Release the memory."""
        for found in self._read.values():
            if found is not None:
                found.frame.unpersist()
        self._read.clear()
        self.__dict__.pop("_expected", None)

    @cached_property
    def _expected(self) -> Expected:
        """Asked when a large table is first read."""
        return self._expect()

    def _slice(self, name: str, version: int, inwards: bool = False) -> _Slice | None:
        """The rows that changes meet on the way out to the largest table, or those that its slice meets on the way back."""
        key = (name, version, inwards)
        if key not in self._read:
            self._read[key] = None
            relation, covered = self._expected.relations.get(name), self._expected.ranges.get(name)
            if relation is not None and covered is not None and version in (covered.from_version, covered.to_version):
                try:
                    parts = self._parts(name, version, covered, inwards)
                    self._read[key] = self._scan(relation, version, parts) if parts else None
                except _UNREADABLE as error:
                    # It may be another view's table that cannot be read: each view finds out for itself.
                    logger.info("%s is not read in one scan: %s", name, type(error).__name__)
        return self._read[key]

    def _parts(self, name: str, version: int, covered: TableRange, inwards: bool) -> list[_Part]:
        """The sets of keys that will be asked for, but for those that another one has."""
        newest = version == covered.to_version
        if not inwards:
            return _distinct([*self._from_changes(name), *self._from_slices(name, newest, inwards)])
        if self._expected.readers.get(name, 0) < 2:
            return []  # finding the keys takes as long as the one view's own scan
        outwards = self._slice(name, version)
        return _distinct(self._from_slices(name, newest, inwards), outwards.parts if outwards is not None else ())

    def _from_changes(self, name: str) -> Iterable[_Part]:
        """The keys of the changed rows of the tables that it is joined with."""
        for edge in self._edges(name):
            covered, relation = self._expected.ranges.get(edge.other), self._expected.relations.get(edge.other)
            if covered is None or relation is None or covered.empty or not self._comparable(edge):
                continue
            needed = self._needed.get(edge.other, set()) | set(edge.other_columns)
            started = time.monotonic()
            rows = self._changes(relation, covered, needed).here
            self._seconds_of_changes += time.monotonic() - started
            if rows is not None and self._meets_few(edge, rows):
                yield _Part(_keys(edge, rows), frozenset({edge.other}))

    def _from_slices(self, name: str, newest: bool, inwards: bool) -> Iterable[_Part]:
        """The keys of the rows that other tables' changes meet in smaller large tables; ``inwards``: in larger ones."""
        for edge in self._edges(name):
            covered = self._expected.ranges.get(edge.other)
            size = self._facts(edge.other).size
            larger = (size, edge.other) > (self._facts(name).size, name)
            if covered is None or size < LARGE or larger is not inwards or not self._comparable(edge):
                continue
            if inwards:
                through = self._read.get((edge.other, covered.to_version, False))
            else:
                through = self._slice(edge.other, covered.to_version if newest else covered.from_version)
            if through is None or not set(edge.other_columns) <= through.columns:
                continue
            for part in through.parts:
                if name in part.sources:
                    continue
                rows = self._with_keys(through, part, edge.other_columns)
                if rows is not None and self._meets_few(edge, rows):
                    yield _Part(_keys(edge, rows), part.sources)

    def _edges(self, name: str) -> list[JoinEdge]:
        return [edge for edge in self._expected.edges if edge.table == name != edge.other]

    def _comparable(self, edge: JoinEdge) -> bool:
        """Values of the other's columns can be looked up in the table's."""
        sides = []
        for name, columns in ((edge.table, edge.columns), (edge.other, edge.other_columns)):
            types = {column.lower(): family(type_) for column, type_ in self._expected.relations[name].columns}
            sides.append([types.get(column) for column in columns])
        return sides[0] == sides[1] and None not in sides[0]

    def _facts(self, name: str) -> TableFacts:
        return self._expected.facts.get(name, TableFacts())

    def _meets_few(self, edge: JoinEdge, rows: pa.Table) -> bool:
        """Declared keys tell that the rows meet no large part of the table."""
        average = fan_out(self._facts(edge.table), edge.columns, self._facts(edge.other), edge.other_columns)
        return bool(average * rows.num_rows <= MOST_ROWS)

    def _with_keys(self, through: _Slice, part: _Part, columns: Sequence[str]) -> pa.Table | None:
        """The distinct columns of the rows with the part's keys; None where they are many."""
        found = self._where(through.frame, [part], [_bounds(part, through.types)])
        rows, _ = fetch(found.select(*(quoted(name) for name in columns)).distinct().limit(HERE + 1))
        return rows if rows.num_rows <= HERE else None

    def _scan(self, relation: Relation, version: int, parts: list[_Part]) -> _Slice:
        wanted = self._needed.get(relation.name, set()) | {name for part in parts for name in part.keys}
        types = {name.lower(): type_ for name, type_ in relation.columns}
        alternatives = [_bounds(part, types) for part in parts]
        rows = self._snapshots.bounded(relation, version, alternatives)
        rows = rows.select(*(quoted(name) for name, _ in relation.columns if name.lower() in wanted))
        frame = self._where(rows, parts, alternatives).persist()
        frame.count()  # from now on its size is known
        return _Slice(frozenset(wanted), types, tuple(parts), frame)

    def _where(self, frame: DataFrame, parts: Sequence[_Part], alternatives: Sequence[Bounds]) -> DataFrame:
        """The rows with the keys of any of the parts; ``alternatives``: what is known of each part's keys."""
        conditions: list[exp.Expr] = []
        joined = frame
        for part, bounds in zip(parts, alternatives, strict=True):
            together: list[exp.Expr] = []
            for name, known, _ in bounds:
                condition = predicate(name, "", known, nulls=False) if known.listed is not None else None
                if condition is None:
                    # Too many to list. They are distinct and not NULL: an outer join finds each row once.
                    flag = f"__ivm_met_{len(conditions)}_{len(together)}"
                    keys = frame_of(self.spark, pa.table({flag: part.keys[name]}))
                    joined = joined.join(keys, joined[quoted(name)] == keys[flag], "left")
                    condition = exp.Not(this=exp.Is(this=col(flag), expression=exp.Null()))
                together.append(condition)
            conditions.append(exp.Paren(this=all_of(together)))
        return joined.where(exp.or_(*conditions).sql("spark")).select(*(quoted(name) for name in frame.columns))


def _bounds(part: _Part, types: Mapping[str, str]) -> Bounds:
    """What predicates and file statistics need of the part's keys."""
    return [(name, values_of(pa.chunked_array([keys]), types[name], CAP), False) for name, keys in part.keys.items()]


def _keys(edge: JoinEdge, rows: pa.Table) -> Keys:
    actual = {name.lower(): name for name in rows.column_names}
    pairs = zip(edge.columns, edge.other_columns, strict=True)
    return {name: rows.column(actual[other]).combine_chunks().drop_null().unique() for name, other in pairs}


def _within(wanted: pa.Array, values: pa.Array) -> bool:
    if wanted.type != values.type:
        return False
    return bool(pc.all(pc.is_in(wanted, value_set=values), min_count=0).as_py())


def _distinct(parts: Iterable[_Part], known: Sequence[_Part] = ()) -> list[_Part]:
    """Without parts whose rows another one, or a known one, has."""
    kept: list[_Part] = []
    for part in sorted(parts, key=lambda part: -sum(len(values) for values in part.keys.values())):
        if not any(other.covers(part.keys) for other in (*known, *kept)):
            kept.append(part)
    return kept
