"""Base tables at exact versions, each opened once per group run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from ivm_core.engine.bindings import Bindings
from ivm_core.engine.looked_up import Keys, look_up
from ivm_core.engine.model import STATE_TABLE, Relation
from ivm_core.engine.needed import read_for_all
from ivm_core.engine.plain_files import Bounds, PlainTable
from ivm_core.engine.queries import frame_of, tasks_run_here
from ivm_core.engine.sharing import WORK_CLOCK, ThreadSeconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


IN_MEMORY = 250_000  # rows up to which a table is read once and kept


class Snapshots:
    """DataFrames of relations at versions.

    Opening an old version replays the table's log, so what was opened is kept behind a temporary view until ``close``.
    ``needed``: the columns of each table, in lower case, that the run reads; ``shared``: the tables that several views read.
    """

    def __init__(
        self, spark: SparkSession, needed: Mapping[str, set[str]] | None = None, shared: Collection[str] = ()
    ) -> None:
        self.spark = spark
        self.bindings = Bindings(spark)
        self._needed = needed or {}
        self.seconds = ThreadSeconds()  # on keeping small tables that several views read
        self._shared = shared
        self._kept: dict[tuple[str, int], tuple[frozenset[str], DataFrame]] = {}
        self._plain: dict[tuple[str, int], PlainTable | None] = {}
        self._by_spark = False

    def leave_to_spark(self) -> None:
        """Let Spark read all rows from now on: what this process misread in a batch it would misread in a check of it."""
        self._by_spark = True

    def stored(self, location: str, version: int) -> DataFrame:
        """The rows of the Delta table at the location, hidden columns included."""
        return self.bindings.frame(self._open(location, version))

    def read(self, relation: Relation, version: int) -> DataFrame:
        """The rows that a reader of the relation sees at the version."""
        return shown(self.bindings, relation, self._open(relation.location, version))

    def bounded(self, relation: Relation, version: int, alternatives: Iterable[Bounds]) -> DataFrame:
        """Rows of a table at a version, at least those within all the bounds of any alternative; of a view, all."""
        plain = self._plain_table(relation.location, version) if relation.visible_sql is None else None
        return plain.read(self.spark, alternatives) if plain is not None else self.read(relation, version)

    def looked_up(
        self, relation: Relation, version: int, columns: Iterable[str], alternatives: Sequence[Keys]
    ) -> Callable[[], pa.Table | None]:
        """What reads rows of a table at a version in this process: those with all the keys of any alternative.

        It gives None where that is better left to Spark. Names of ``columns`` and keys are in lower case.
        """
        plain = self._plain_table(relation.location, version) if relation.visible_sql is None else None
        if plain is None or self._by_spark or not tasks_run_here(self.spark):
            return lambda: None
        types = {name.lower(): type_ for name, type_ in relation.columns}
        return partial(look_up, plain, types, frozenset(columns), alternatives)

    def whole(self, relation: Relation, version: int) -> DataFrame:
        """All rows of a relation at a version, for a query over most of them.

        Of a large table by Delta Lake, which knows the columns that are never NULL: without that Spark reads a table twice
        where parts of a query differ by a test for NULL only.
        """
        if relation.visible_sql is not None or is_small(relation):
            return self.read(relation, version)
        key = f"{relation.location}@{version} by Delta"
        if key not in self.bindings:
            self.bindings.bind(key, self._by_delta(relation.location, version))
        return self.bindings.frame(key)

    def in_memory(self, relation: Relation, version: int, columns: Iterable[str]) -> DataFrame | None:
        """A small table's rows at the version, with at least these columns, kept in memory; None of other tables.

        Every query over a Delta table lists and filters its files, which takes longer than reading a small one.
        """
        if not is_small(relation):
            return None
        key = (relation.location, version)
        wanted = {name.lower() for name in columns}
        if key not in self._kept or not wanted <= self._kept[key][0]:
            started = WORK_CLOCK.now()
            if key in self._kept:
                before, frame = self._kept.pop(key)
                frame.unpersist()
                wanted |= before
            others = self._needed.get(relation.name, ())
            self._kept[key] = read_for_all(wanted, others, partial(self._whole_in_memory, relation, version))
            if relation.name in self._shared:
                self.seconds.spent += WORK_CLOCK.now() - started
        return self._kept[key][1]

    def _whole_in_memory(self, relation: Relation, version: int, columns: frozenset[str]) -> DataFrame:
        rows = self.looked_up(relation, version, columns, [{}])()
        if rows is not None:
            return frame_of(self.spark, rows)
        selected = (quoted(name) for name, _ in relation.columns if name.lower() in columns)
        frame = self.read(relation, version).select(*selected).persist()
        frame.count()  # from now on its size is known
        return frame

    def close(self) -> None:
        """Forget all snapshots."""
        for _, frame in self._kept.values():
            frame.unpersist()
        self._kept.clear()
        self._plain.clear()
        self.bindings.close()

    def _open(self, location: str, version: int) -> str:
        key = f"{location}@{version}"
        if key not in self.bindings:
            plain = self._plain_table(location, version)
            self.bindings.bind(key, plain.read(self.spark) if plain is not None else self._by_delta(location, version))
        return key

    def _by_delta(self, location: str, version: int) -> DataFrame:
        return self.spark.read.format("delta").option("versionAsOf", version).load(location)

    def _plain_table(self, location: str, version: int) -> PlainTable | None:
        if (location, version) not in self._plain:
            self._plain[location, version] = PlainTable.open(location, version)
        return self._plain[location, version]


def is_small(relation: Relation) -> bool:
    """Whether a run keeps the relation's rows in memory."""
    return relation.rows is not None and relation.rows <= IN_MEMORY


def quoted(name: str) -> str:
    """A column name for the DataFrame API, where a dot would otherwise mean a field."""
    return "`" + name.replace("`", "``") + "`"


def shown(bindings: Bindings, relation: Relation, stored: str) -> DataFrame:
    """Stored rows through the relation's visible SELECT, or as they are where it has none.

    ``stored`` is their name in ``bindings``, which must outlive the result: a Connect session resolves names late.
    """
    if relation.visible_sql is None:
        return bindings.frame(stored)
    return bindings.run(relation.visible_sql, {STATE_TABLE: bindings.view(stored)})
