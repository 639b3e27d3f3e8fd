"""What the use cases share: settings, catalogue, and a Spark session that is opened when first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.model import TableRecord, ViewRecord
from ivm_core.cost.model import Reason, Strategy
from ivm_core.engine.changes import ChangeCache
from ivm_core.engine.log import TableLog
from ivm_core.engine.log_by_spark import only_spark_reaches
from ivm_core.engine.model import Relation
from ivm_core.engine.session import open_session, prepare_session
from ivm_core.engine.slices import Expected
from ivm_core.engine.tables import register_table, register_view, select_as_written, table_exists
from ivm_core.errors import BaseTableError, DriftError, InvalidNameError, UnknownTableError
from ivm_core.job.build import batch_job
from ivm_core.job.compile import CompiledView
from ivm_core.job.facts import TableFacts
from ivm_core.job.model import MaintenanceJob
from ivm_core.maintain.compiled import CompiledViews
from ivm_core.maintain.keys import columns_of, schema_of
from ivm_core.maintain.visible import shown_by
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.statement import read_select
from ivm_core.plan.table_names import tables_of
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TIME_ZONE = "spark.sql.session.timeZone"


class Session:
    """One process's hold on a deployment. Threads may maintain views of one run; all else is for one thread."""

    def __init__(
        self, settings: Settings, catalog: Catalog, spark: SparkSession | Callable[[], SparkSession] | None = None
    ) -> None:
        self.settings = settings
        self.catalog = catalog
        self._given = spark
        self._spark: SparkSession | None = None
        self._named = False  # whether it knows the tables and views by their names
        self._opening = threading.RLock()
        self._compiled = CompiledViews(self.schema)
        self._changes: ChangeCache | None = None
        self._described: set[str] | None = None  # tables looked up in the Spark session, in a block that does so once
        self._shown: dict[str, tuple[str, str]] = {}  # views in the Spark session: location, visible SELECT
        self._logs: dict[tuple[int, str], TableLog] = {}  # by thread: what is read of a log is kept in it
        self._facts: dict[str, TableFacts] = {}  # as first asked in a block: jobs need not change with every row
        self._jobs: dict[tuple[str, str, frozenset[str], object], MaintenanceJob] = {}

    @property
    def spark(self) -> SparkSession:
        """The Spark session, opened at the first call. One of our own may not know tables and views by their names."""
        with self._opening:
            return self._spark or self._open()

    def _open(self) -> SparkSession:
        if self._given is None:
            self._spark = open_session(self.settings)
            return self._spark
        opened = self._given() if callable(self._given) else self._given
        prepare_session(opened, self.settings)
        self._spark = opened
        # Where it is another's, its owner may read what is here by name.
        return self.spark_with_names if opened is self._given else opened

    @property
    def spark_with_names(self) -> SparkSession:
        """The Spark session, told of all known tables and views: a second or two that batches do without."""
        with self._opening:  # as ``spark``, which may ask for the names: one thread does both
            spark = self.spark
            if not self._named:
                for table in self.catalog.tables():
                    with suppress(BaseTableError):  # it alone is unknown
                        register_table(spark, table.name, table.location)
                for view in (view for view in self.catalog.views() if view.status != "creating"):
                    self.show(view)
                self._named = True
            return spark

    @property
    def spark_if_open(self) -> SparkSession | None:
        """The Spark session where one is open already, or was given: reading a table's log needs none on local paths."""
        return self._spark or (None if callable(self._given) else self._given)

    @property
    def shared_seconds(self) -> float:
        """Time spent so far, in a block of reads that several views share, on these."""
        return self._changes.shared_seconds if self._changes is not None else 0.0

    @contextmanager
    def shared_reads(
        self,
        needed: Mapping[str, tuple[str, ...]] | None = None,
        expected: Callable[[], Expected] = Expected,
        shared: Collection[str] = (),
    ) -> Iterator[ChangeCache]:
        """What ``changes`` reads inside the block is read once, and let go of at its end; an inner block is the outer one.

        ``needed``: the columns of each table that will be asked for; ``expected``: how views will join them; ``shared``:
        tables that several views read. The Spark session opens when something is read.
        """
        if self._changes is not None:
            yield self._changes
            return
        self._changes = ChangeCache(lambda: self.spark, self.settings, needed, expected, shared)
        try:
            yield self._changes
        finally:
            ended, self._changes = self._changes, None
            # The next block's tables may be of another size: what is kept in memory and joined first depends on it.
            self._logs.clear()
            self._facts.clear()
            ended.close()

    @contextmanager
    def describing_once(self) -> Iterator[None]:
        """Inside the block, a table is looked up in the Spark session once, whatever reads it."""
        self._described = set()
        try:
            yield
        finally:
            self._described = None

    def is_described(self, name: str) -> bool:
        """Whether the catalogue has the table as the block found it. Outside of a block: no."""
        return self._described is not None and name in self._described

    def note_described(self, name: str) -> None:
        """The catalogue has the table as the Spark session describes it now."""
        if self._described is not None:
            self._described.add(name)

    def show(self, view: ViewRecord) -> bool:
        """Register a view's state table and its visible SELECT in the Spark session; False where the state cannot be shown."""
        try:
            visible = shown_by(view, self.compiled(view), (name for name, _ in self.log(view.location).columns()))
        except BaseTableError:
            return False
        if visible is not None:
            register_view(self.spark, view.name, view.location, visible, view.comment)
            self._shown[view.name] = (view.location, visible)
        return visible is not None

    def log(self, location: str) -> TableLog:
        """The Delta log of a table."""
        return TableLog(location, self._reader_of(location))

    def _reader_of(self, location: str) -> SparkSession | None:
        """Spark where it is open, or is needed to reach the place."""
        return self.spark if self._spark is None and only_spark_reaches(location) else self._spark

    def table_log(self, name: str) -> TableLog:
        """The log of what a view reads. A base table's is opened once in a block of shared reads: the cut fixes its end."""
        if self._changes is None or self.catalog.find_view(name) is not None:
            return self.log(self.location(name))
        key = (threading.get_ident(), name)
        if key not in self._logs:
            self._logs[key] = self.log(self.location(name))
        return self._logs[key]

    def has_table(self, location: str) -> bool:
        """True where a Delta table is at the location."""
        return TableLog.exists(location, self._reader_of(location))

    def base_log(self, name: str) -> TableLog:
        """The log of a base table or of an upstream view's state. Raises BaseTableError where its Delta table is gone."""
        location = self.location(name)
        if not self.has_table(location):
            raise BaseTableError(
                f"The table {name} is missing: there is no Delta table at {location}. Create it again, or drop the views "
                "that read it."
            )
        return self.log(location)

    def location(self, name: str) -> str:
        """Where the Delta table of a base table, or the state of a view, lies."""
        view = self.catalog.find_view(name)
        if view is not None:
            return view.location
        return self._base_table(name).location

    def _base_table(self, name: str) -> TableRecord:
        table = self.catalog.table(name)
        if table is None:
            raise BaseTableError(f"{name} is not in the catalogue: Engine.register_table or `ivm apply` registers it.")
        return table

    def schema(self, name: str) -> TableSchema:
        """What a plan may know of a base table or an upstream view. Raises UnknownTableError."""
        view = self.catalog.find_view(name)
        if view is not None:
            return TableSchema(name, view.columns)
        table = self.catalog.table(name)
        if table is None:
            raise UnknownTableError(f"There is no table or view {name}.", construct=name)
        return schema_of(table)

    @property
    def time_zone(self) -> str | None:
        """The Spark session's time zone; of a session that is not open yet, the one in the settings, or None."""
        if self._spark is None and (self._given is None or callable(self._given)):
            return self.settings.spark.conf.get(TIME_ZONE)
        zone: str | None = self.spark.conf.get(TIME_ZONE)
        return zone

    def relations(self, view: ViewRecord) -> dict[str, Relation]:
        """How the engine reads each table of a view; the clock is none."""
        return {table: self.relation(table) for table in view.tables if table != CLOCK}

    def relation(self, name: str) -> Relation:
        """How the engine reads a base table or an upstream view."""
        view = self.catalog.find_view(name)
        if view is not None:
            log, compiled = self.log(view.location), self._compiled.of(view)
            return Relation(
                name,
                view.location,
                log.table_id(),
                view.columns,
                None if compiled.layout.reads_as_is else compiled.visible_sql,
                self._facts_of(name).rows,
                compiled.layout.row_wise,
            )
        table = self._base_table(name)
        return Relation(
            name, table.location, self.table_log(name).table_id(), columns_of(table), None, self._facts_of(name).rows
        )

    def job(self, view: ViewRecord, changed: frozenset[str]) -> MaintenanceJob:
        """The view's incremental job for a pattern of changed tables. Raises NoRule; strategy and reason say nothing yet."""
        facts, compiled = self.facts(view.tables), self.compiled(view)
        key = (view.view_id, compiled.fingerprint, changed, facts)
        if key not in self._jobs:
            self._jobs[key] = batch_job(compiled, changed, Strategy.INCREMENTAL, Reason.LINEAR, dict(facts))
        return self._jobs[key]

    def facts(self, tables: Iterable[str]) -> tuple[tuple[str, TableFacts], ...]:
        """What orders joins over the tables: their keys, and their rows roughly, so that jobs stay the same as tables grow."""
        return tuple((name, self._facts_of(name).roughly()) for name in sorted(tables))

    def _facts_of(self, name: str) -> TableFacts:
        if name == CLOCK:
            return TableFacts(1)
        facts = self._facts.get(name)
        if facts is None:
            table, rows = self.catalog.table(name), None
            key = tuple(column.lower() for column in table.primary_key) if table is not None else ()
            with suppress(BaseTableError):
                rows = self.table_log(name).size().rows
            facts = TableFacts(rows, key)
            if self._changes is not None:
                self._facts[name] = facts
        return facts

    def compiled(self, view: ViewRecord) -> CompiledView:
        """The view's plan and layout, compiled once per process and text of its definition.

        Raises SchemaChangedError where what it reads has changed so that the query is wrong now.
        """
        return self._compiled.of(view)

    def follow_columns(self, view: ViewRecord) -> None:
        """Compile the view anew at the next use where what it reads was registered with other columns or keys since."""
        if self._compiled.is_of_before(view):
            self.forget(view.view_id)

    def read(self, view: ViewRecord) -> DataFrame:
        """The view's rows as a reader sees them now."""
        known = self._shown.get(view.name) == (view.location, self._compiled.of(view).visible_sql)
        if not (known and table_exists(self.spark, view.name)) and not self.show(view):
            raise DriftError(
                f"The state of {view.name} at {view.location} is missing, or left by another form of its query, and cannot be "
                f"shown. Run `ivm maintain {view.name}`, or `ivm refresh {view.name}` where its policy is incremental_strict."
            )
        return self.spark.table(view.name)

    def query(self, sql: str) -> DataFrame:
        """The result of one SELECT over tables and views. Raises DefinitionError for anything else."""
        select, spark = read_select(sql), self.spark_with_names
        with suppress(InvalidNameError):  # a file is read as Spark finds it
            for view in filter(None, map(self.catalog.find_view, tables_of(select))):
                self.read(view)  # which another process may have made, or replaced, since the session was told of it
        return select_as_written(spark, sql)

    def forget(self, view_id: str) -> None:
        """Compile the view anew at the next use."""
        self._compiled.forget(view_id)
        # In one step of the interpreter: another thread may add a job meanwhile.
        self._jobs = {key: job for key, job in tuple(self._jobs.items()) if key[0] != view_id}
