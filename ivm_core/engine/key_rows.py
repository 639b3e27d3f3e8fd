"""The rows of a table that have certain keys, read once and kept in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ivm_core.apply.names import all_of, col
from ivm_core.engine.literals import family
from ivm_core.engine.looked_up import Keys
from ivm_core.engine.model import Relation
from ivm_core.engine.plain_files import Bounds
from ivm_core.engine.queries import frame_of
from ivm_core.engine.small import ColumnValues, predicate, values_of
from ivm_core.engine.snapshots import Snapshots, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CAP = 1000  # keys in one literal IN list; more are joined

_SPARSE = 0.5  # keys of their range: of more, looking them up leaves out little
_MET = "__ivm_met"
_INTEGERS = {"tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64()}


@dataclass(frozen=True, slots=True)
class KeySet:
    """The rows with these keys; ``sources``: the tables whose changes they come from."""

    keys: Keys
    sources: frozenset[str] = frozenset()

    def covers(self, wanted: Keys) -> bool:
        """Whether all rows with the wanted keys are among these."""
        return all(name in wanted and within(wanted[name], values) for name, values in self.keys.items())

    def bounds(self, types: Mapping[str, str]) -> Bounds:
        """What predicates and file statistics need of the keys, as far as it can be told; ``types``: Spark's, by column."""
        bounds = []
        for name, keys in self.keys.items():
            known = values_of(pa.chunked_array([keys]), types[name], CAP)
            bounds.append((name, known or ColumnValues(types[name], None, None, None, nulls=False), False))
        return bounds


@dataclass(frozen=True, slots=True)
class KeyRows:
    """Rows of a table at a version, in memory: all those with the keys of any of the sets, and these columns.

    ``here``: the rows, where this process holds them.
    """

    columns: frozenset[str]
    types: Mapping[str, str]
    sets: tuple[KeySet, ...]
    frame: DataFrame
    here: pa.Table | None = None

    def covers(self, wanted: Keys, columns: Iterable[str]) -> bool:
        """Whether a reader of these columns finds all rows with the wanted keys here."""
        return set(columns) <= self.columns and any(one.covers(wanted) for one in self.sets)


def read_key_rows(
    spark: SparkSession,
    snapshots: Snapshots,
    relation: Relation,
    version: int,
    sets: Sequence[KeySet],
    columns: Iterable[str],
) -> KeyRows:
    """Read them in one scan; ``columns`` in lower case. The caller unpersists the frame."""
    wanted = {*columns, *(name for one in sets for name in one.keys)}
    types = {name.lower(): type_ for name, type_ in relation.columns}
    here = snapshots.looked_up(relation, version, wanted, [one.keys for one in sets])()
    if here is not None:
        return KeyRows(frozenset(wanted), types, tuple(sets), frame_of(spark, here), here)
    alternatives = [one.bounds(types) for one in sets]
    rows = snapshots.bounded(relation, version, alternatives)
    rows = rows.select(*(quoted(name) for name, _ in relation.columns if name.lower() in wanted))
    frame = having(spark, rows, sets, alternatives).persist()
    frame.count()  # from now on its size is known
    return KeyRows(frozenset(wanted), types, tuple(sets), frame)


def having(spark: SparkSession, frame: DataFrame, sets: Sequence[KeySet], alternatives: Sequence[Bounds]) -> DataFrame:
    """The rows with the keys of any of the sets; ``alternatives``: what is known of each set's keys."""
    conditions: list[exp.Expr] = []
    joined = frame
    for one, bounds in zip(sets, alternatives, strict=True):
        together: list[exp.Expr] = []
        for name, known, _ in bounds:
            condition = predicate(name, "", known, nulls=False) if known.listed is not None else None
            if condition is None:
                # Too many to list. They are distinct and not NULL: an outer join finds each row once.
                flag = f"__ivm_met_{len(conditions)}_{len(together)}"
                keys = frame_of(spark, pa.table({flag: one.keys[name]}))
                joined = joined.join(keys, joined[quoted(name)] == keys[flag], "left")
                condition = exp.Not(this=exp.Is(this=col(flag), expression=exp.Null()))
            together.append(condition)
        conditions.append(exp.Paren(this=all_of(together)))
    return joined.where(exp.or_(*conditions).sql("spark")).select(*(quoted(name) for name in frame.columns))


def looked_up(spark: SparkSession, frame: DataFrame, bounds: Bounds, keys: Keys) -> DataFrame:
    """Only rows with a key of the one column whose keys are the fewest of their range; ``keys``: by column of the frame.

    For a join by several columns with too many keys to list: Spark finds a row in a hash table by one integer in a third of
    the time that it takes by several columns. The frame as it is where keys are listed, or are no integers.
    """
    sparse: dict[str, float] = {}
    for name, known, nulls in bounds:
        if known.listed is not None:
            return frame
        if name in keys and family(known.type) == "integer" and not nulls:
            sparse[name] = len(keys[name]) / (known.high - known.low + 1)
    if len(sparse) < 2 or min(sparse.values()) > _SPARSE:
        return frame
    name = min(sparse, key=lambda column: sparse[column])
    wanted = frame_of(spark, pa.table({_MET: keys[name]}))
    return frame.join(wanted, frame[quoted(name)] == wanted[_MET], "left_semi")


def comparable(type_: str, wanted: str) -> bool:
    """Whether values of one Spark type can be looked up in a column of the other, without a cast of the column."""
    kind = family(type_)
    return kind is not None and kind == family(wanted) and (kind in ("integer", "string") or type_ == wanted)


def keys_of(values: pa.ChunkedArray, type_: str, wanted: str) -> pa.Array:
    """Distinct values of a column of one type as keys of a column of a comparable one: NULL and what it cannot hold go."""
    distinct = values.combine_chunks().drop_null().unique()
    if family(type_) == "string":
        return distinct.cast(pa.string())
    if wanted not in _INTEGERS:
        return distinct
    fitting = distinct.cast(_INTEGERS[wanted], safe=False)
    return fitting.filter(pc.equal(fitting.cast(pa.int64()), distinct.cast(pa.int64())))


def within(wanted: pa.Array, values: pa.Array) -> bool:
    """Whether all wanted values are among the others; False of values of another type."""
    if wanted.type != values.type:
        return False
    return bool(pc.all(pc.is_in(wanted, value_set=values), min_count=0).as_py())
