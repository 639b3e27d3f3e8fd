"""Name a job's inputs: the right rows, their columns under the job's names, pruned by the values of small steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ivm_core.apply.names import all_of, col, named
from ivm_core.batch.model import Batch, TableRange
from ivm_core.engine.bindings import Bindings
from ivm_core.engine.both_states import BothStates
from ivm_core.engine.changes import ChangeCache
from ivm_core.engine.key_rows import comparable, keys_of, looked_up
from ivm_core.engine.literals import family
from ivm_core.engine.looked_up import Keys
from ivm_core.engine.model import Relation
from ivm_core.engine.plain_files import Bounds
from ivm_core.engine.queries import frame_of
from ivm_core.engine.small import ChangedRows, ColumnValues, SmallRelation, predicate, read_values
from ivm_core.errors import BaseTableError
from ivm_core.job.facts import LARGE
from ivm_core.job.model import Input, Slice
from ivm_core.plan.nodes import WEIGHT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Sources:
    """What a batch reads: its exact ranges, the relations by name, and the run's cache of changes and snapshots."""

    batch: Batch
    relations: Mapping[str, Relation]
    cache: ChangeCache

    def relation(self, table: str) -> Relation:
        """The relation of a base table. Raises ``BaseTableError`` where it is unknown."""
        try:
            return self.relations[table]
        except KeyError:
            raise BaseTableError(f"The table {table} is not known to this run.") from None

    def range(self, table: str) -> TableRange:
        """The versions that the batch covers of a base table. Raises ``BaseTableError`` where it has none."""
        for item in self.batch.ranges:
            if item.table == table:
                return item
        raise BaseTableError(f"Batch {self.batch.number} of {self.batch.view} has no versions of {table}.")

    def changes(self, item: Input) -> ChangedRows:
        """The changes behind a CHANGES input, in the relation's own column names."""
        names = tuple(column.source for column in item.columns)
        return self.cache.read(self.relation(item.table), self.range(item.table), names)


def bind_changes(bindings: Bindings, item: Input, sources: Sources) -> SmallRelation:
    """Name the changes that an input shows; also returns them, under its column names."""
    changes = sources.changes(item).relation
    names = {column.name: column.source.lower() for column in item.columns}
    here = changes.here
    if here is not None:
        actual = {name.lower(): name for name in here.column_names}
        here = here.select([*(actual[source] for source in names.values()), WEIGHT]).rename_columns([*names, WEIGHT])

    def shown() -> exp.Select:
        with sources.cache.one_reader():
            return _shown(item, sources.cache.share(changes.frame), col(WEIGHT))

    bindings.define(item.name, shown)
    return replace(changes, made=lambda: changes.frame.selectExpr(*_renamed(item), WEIGHT), names=names, here=here)


def bind_snapshot(
    bindings: Bindings,
    item: Input,
    sources: Sources,
    small: Mapping[str, SmallRelation],
    cap: int,
    both_states: BothStates | None = None,
) -> None:
    """Name the version that an input shows: in memory where the table is small, else without what its bounds rule out."""
    relation, covered = sources.relation(item.table), sources.range(item.table)
    version = _version(item, covered)
    kept = sources.cache.snapshots.in_memory(relation, version, (column.source for column in item.columns))
    if kept is not None:
        bindings.define(item.name, _shown(item, sources.cache.share(kept)))
        return
    sourced = {column.name: column.source for column in item.columns}
    own_keys = _known_keys(item, small)
    keys = {sourced[name].lower(): values for name, values in own_keys.items()}
    once = both_states is not None and both_states.reads_once(item)
    shared = sources.cache.slices.find(relation, version, sourced.values(), keys, once=once)
    if shared is None and both_states is not None:
        shared = both_states.find(item, relation, covered, keys)
    if shared is not None:
        bindings.define(item.name, _shown(item, sources.cache.share(shared)))
        return
    columns = {source.lower() for source in sourced.values()}
    here = sources.cache.snapshots.looked_up(relation, version, columns, [keys]) if keys else None

    def read() -> DataFrame:
        rows = here() if here is not None else None
        if rows is not None:
            return frame_of(bindings.spark, rows).selectExpr(*_renamed(item))
        with sources.cache.one_reader() as cache:
            return _bounded(item, cache, relation, version, _known_bounds(item, small, cap), own_keys)

    bindings.bind(item.name, read)


def _bounded(
    item: Input, cache: ChangeCache, relation: Relation, version: int, bounds: Bounds, keys: Keys
) -> DataFrame:
    """The input's rows as Spark reads them: within the bounds at least; ``bounds`` and ``keys`` by the input's names."""
    sourced = {column.name: column.source for column in item.columns}
    frame = cache.snapshots.bounded(
        relation, version, [[(sourced[name], known, nulls) for name, known, nulls in bounds]]
    )
    frame = frame.selectExpr(*_renamed(item))
    conditions = [predicate(name, "", known, nulls=nulls) for name, known, nulls in bounds]
    stated = [condition for condition in conditions if condition is not None]
    frame = frame.where(all_of(stated).sql("spark")) if stated else frame
    if relation.rows is not None and relation.rows >= LARGE:
        frame = looked_up(cache.spark, frame, bounds, keys)
    return frame


def bind_whole(bindings: Bindings, item: Input, sources: Sources) -> None:
    """Name the version that an input of a refresh shows, read as plain Spark reads it: what is kept in memory, or read without
    Delta's knowledge of its columns, is faster for few rows only."""
    version = _version(item, sources.range(item.table))
    frame = sources.cache.snapshots.whole(sources.relation(item.table), version)
    bindings.bind(item.name, frame.selectExpr(*_renamed(item)))


def _version(item: Input, covered: TableRange) -> int:
    return covered.from_version if item.slice is Slice.BEFORE else covered.to_version


def _known_bounds(item: Input, small: Mapping[str, SmallRelation], cap: int) -> list[tuple[str, ColumnValues, bool]]:
    """Columns of the input with the values that they can only have: name, values, whether NULL is one of them."""
    types = {column.name: column.type for column in item.columns}
    wanted: dict[str, list[str]] = {}
    for bound in item.bounds:
        if bound.step in small:
            wanted.setdefault(bound.step, []).append(bound.step_column)
    for step, columns in wanted.items():
        read_values(small[step], columns, cap)
    found = []
    for bound in item.bounds:
        known = small[bound.step].known(bound.step_column) if bound.step in small else None
        if known is not None and family(types.get(bound.column, "")) == family(known.type):
            found.append((bound.column, known, bound.null_safe and known.nulls))
    return found


def _known_keys(item: Input, small: Mapping[str, SmallRelation]) -> dict[str, pa.Array]:
    """All the values that columns of the input can only have, where this process holds them and NULL is not one.

    Of several bounds of a column, the one with the fewest.
    """
    types = {column.name: column.type for column in item.columns}
    found: dict[str, pa.Array] = {}
    for bound in item.bounds:
        step = small.get(bound.step)
        if step is None or step.here is None:
            continue
        values = step.here.column(bound.step_column)
        if not (bound.null_safe and values.null_count):
            given, wanted = step.types()[bound.step_column], types.get(bound.column, "")
            if not comparable(given, wanted):
                continue
            keys = keys_of(values, given, wanted)
            if bound.column not in found or len(keys) < len(found[bound.column]):
                found[bound.column] = keys
    return found


def _shown(item: Input, view: str, *more: exp.Expr) -> exp.Select:
    """The input's columns of a relation that a temporary view shows to other inputs too."""
    return exp.select(*(named(col(column.source), column.name) for column in item.columns), *more).from_(
        exp.to_table(view)
    )


def _renamed(item: Input) -> list[str]:
    return [named(col(column.source), column.name).sql("spark") for column in item.columns]
