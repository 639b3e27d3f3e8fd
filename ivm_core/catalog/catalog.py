"""The catalogue of one deployment: every method is one transaction and takes and returns plain records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Self

from sqlalchemy import Connection, Engine

from ivm_core.batch.model import Batch, Cut, TableVersion
from ivm_core.catalog import activity, checks, locks, progress, views
from ivm_core.catalog.connect import make_engine, parse_url, translated
from ivm_core.catalog.migrate import migrate
from ivm_core.catalog.model import (
    BatchRecord,
    CutRecord,
    Intent,
    IntentState,
    TableRecord,
    ValidationRecord,
    ViewActivity,
    ViewRecord,
)
from ivm_core.cost.model import Reason, Strategy
from ivm_core.settings import mask_url


class Catalog:
    """Base tables, views, progress and validations, in SQLite or PostgreSQL. Threads may share one.

    Every method may raise CatalogError (database unreachable, full, locked); nothing is changed then.
    """

    def __init__(self, engine: Engine) -> None:
        """Use ``open``: an engine's database need not have the schema."""
        self._engine = engine
        self._writing = engine.execution_options(writes=True)

    @classmethod
    def open(cls, url: str) -> Self:
        """Open ``sqlite:///path`` or ``postgresql://…``, creating or upgrading its tables.

        Raises CatalogError where it cannot be reached or a newer version of the package has made it.
        """
        parsed = parse_url(url)
        engine = make_engine(parsed)
        try:
            with translated(parsed):
                migrate(engine)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Catalog({self.safe_url!r})"

    @property
    def safe_url(self) -> str:
        """The URL without its secrets."""
        return mask_url(self._engine.url.render_as_string(hide_password=False))

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with translated(self._engine.url), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with translated(self._engine.url), self._writing.begin() as connection:
            yield connection

    # Base tables

    def upsert_table(self, record: TableRecord) -> None:
        """Register a base table, or replace what is registered under its name."""
        with self._write() as connection:
            views.upsert_table(connection, record)

    def table(self, name: str) -> TableRecord | None:
        with self._read() as connection:
            return views.find_table(connection, name)

    def tables(self) -> tuple[TableRecord, ...]:
        """All base tables, by name."""
        with self._read() as connection:
            return views.list_tables(connection)

    # Views

    def add_view(self, record: ViewRecord) -> ViewRecord:
        """Register a view and return what is registered: the earlier record where its SQL is the same.

        A view of that name that never got past ``creating`` is replaced. Raises ViewExistsError for any other
        with another SQL.
        """
        with self._write() as connection:
            return views.add_view(connection, record)

    def update_view(self, record: ViewRecord) -> None:
        """Replace the record with the same ``view_id``, but for its status; UnknownViewError where there is none."""
        with self._write() as connection:
            views.update_view(connection, record)

    def mark_built(self, view_id: str) -> None:
        """Make a view that is being created an active one; any other stays what it is."""
        with self._write() as connection:
            views.mark_built(connection, view_id)

    def view(self, name: str) -> ViewRecord:
        """The view of that name; UnknownViewError tells close ones."""
        with self._read() as connection:
            return views.get_view(connection, name)

    def find_view(self, name: str) -> ViewRecord | None:
        with self._read() as connection:
            return views.find_view(connection, name)

    def views(self, group: str | None = None) -> tuple[ViewRecord, ...]:
        """All views that are not dropped, or those of a maintenance group, by name."""
        with self._read() as connection:
            return views.list_views(connection, group)

    def remove_view(self, name: str) -> None:
        """Free the name and abandon an open intent; the history stays. ViewExistsError while other views read it."""
        with self._write() as connection:
            views.remove_view(connection, name)

    def dependants(self, name: str) -> tuple[str, ...]:
        """The views that read the table or view directly, by name."""
        with self._read() as connection:
            return views.list_dependants(connection, name)

    def activity(self, names: Collection[str] | None = None, group: str | None = None) -> tuple[ViewActivity, ...]:
        """Views by name with their newest batch, attempt, validation and open intent, without the batches' jobs.

        Five statements, whatever the number of views.
        """
        with self._read() as connection:
            return activity.list_activity(connection, names, group)

    # Progress

    def open_intent(
        self,
        view_id: str,
        view: str,
        batch: Batch,
        strategy: Strategy,
        reason: Reason,
        run_id: str | None = None,
        *,
        committed: int = 0,
    ) -> Intent:
        """Bind ``batch.number`` to ``batch`` for good, or return the intent that is open: that one is to be done first.

        The number must follow the highest one ever bound and ``committed``, the ``txnVersion`` that the view's own
        table carries: a catalogue restored from a backup may be behind it. CatalogError otherwise.
        """
        with self._write() as connection:
            return progress.open_intent(connection, view_id, view, batch, strategy, reason, run_id, committed)

    def last_number(self, view_id: str) -> int:
        """The highest batch number ever bound for the view, 0 where there is none."""
        with self._read() as connection:
            return progress.last_number(connection, view_id)

    def open_intents(self, view: str | None = None) -> tuple[Intent, ...]:
        """The intents that are neither applied nor abandoned: at most one a view."""
        with self._read() as connection:
            found = views.list_views(connection, None) if view is None else (views.get_view(connection, view),)
            return progress.list_open_intents(connection, {item.view_id: item.name for item in found})

    def settle_intent(self, view_id: str, number: int, state: IntentState | str) -> None:
        """Make an open intent ``applied`` or ``abandoned``; repeating it is harmless, contradicting it CatalogError."""
        with self._write() as connection:
            progress.settle_intent(connection, view_id, number, IntentState(state))

    def add_batch(self, record: BatchRecord, *, settle: IntentState | str | None = None) -> None:
        """Add an attempt to the history and, in the same transaction, settle its intent.

        A batch that changed the view counts once: a second success under its number leaves the first record.
        """
        with self._write() as connection:
            progress.add_batch(connection, record, None if settle is None else IntentState(settle))

    def history(self, view: str, limit: int = 50) -> tuple[BatchRecord, ...]:
        """The newest attempts first, also of a dropped view while its name is free."""
        with self._read() as connection:
            return progress.list_batches(connection, view, limit)

    def measured(self, view: str, batches: int, refreshes: int) -> tuple[BatchRecord, ...]:
        """The newest incremental batches and the newest full refreshes whose seconds are known, however old, newest first."""
        with self._read() as connection:
            return progress.list_measured(connection, view, batches, refreshes)

    def last_batch(self, view: str) -> BatchRecord | None:
        """The newest success, so the versions that the view stands at."""
        with self._read() as connection:
            return next(iter(progress.list_batches(connection, view, 1, succeeded=True)), None)

    # Validations and cuts

    def add_validation(self, record: ValidationRecord) -> None:
        with self._write() as connection:
            checks.add_validation(connection, record)

    def validations(self, view: str, limit: int = 50) -> tuple[ValidationRecord, ...]:
        """The newest first."""
        with self._read() as connection:
            return checks.list_validations(connection, view, limit)

    def last_validation(self, view: str) -> ValidationRecord | None:
        return next(iter(self.validations(view, 1)), None)

    def add_cut(self, group: str, run_id: str, cut: Cut) -> CutRecord:
        """Fix the cut of a group's run; a run that has one keeps it, and that one is returned."""
        with self._write() as connection:
            return checks.add_cut(connection, group, run_id, cut)

    def publish_cut(self, group: str, run_id: str, states: Iterable[TableVersion] = ()) -> CutRecord:
        """Say that every view of the run stands at its cut, at these versions of the state tables."""
        with self._write() as connection:
            return checks.publish_cut(connection, group, run_id, states)

    def cut(self, run_id: str, group: str | None = None) -> CutRecord | None:
        """The cut of a run; name the group where several groups' runs may share an id (the newest otherwise)."""
        with self._read() as connection:
            return checks.find_cut(connection, run_id, group)

    def latest_cut(self, group: str) -> CutRecord | None:
        """The cut that the group published last: what a reader of several views reads at."""
        with self._read() as connection:
            return checks.find_latest_cut(connection, group)

    # Exclusion

    def lock(self, name: str, wait_seconds: float = 0.0) -> AbstractContextManager[bool]:
        """Hold ``name`` (a view's) against other processes and threads inside the block, which gets True.

        It gets False where another holder kept it for ``wait_seconds``. The holder's death frees it.
        """
        return locks.lock(self._engine, name, wait_seconds)
