"""The facade: one object per process, one method per use case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ivm_core.apply.model import MaintenanceReport
from ivm_core.batch.clock import is_ahead
from ivm_core.batch.model import Cut
from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.model import BatchRecord, TableRecord, ViewRecord
from ivm_core.errors import SettingsError
from ivm_core.maintain.explain import explain
from ivm_core.maintain.forecast import forecast
from ivm_core.maintain.group import in_utc, maintain_views, make_cut, pending_views, select_views
from ivm_core.maintain.inspect import column_lineages, doctor, lineage, status
from ivm_core.maintain.model import Check, Explanation, Forecast, Mode, PlannedChange, ViewStatus
from ivm_core.maintain.places import follow_tables
from ivm_core.maintain.project import apply_project, plan_project
from ivm_core.maintain.published import read_published
from ivm_core.maintain.register import create_view, drop_view, refresh_view, register_base_table
from ivm_core.maintain.session import Session
from ivm_core.maintain.validation import validate_view
from ivm_core.maintain.view import repair_view
from ivm_core.plan.column_lineage import ColumnLineage
from ivm_core.plan.definition import Policy
from ivm_core.plan.names import qualified
from ivm_core.settings import Settings
from ivm_core.validate.model import ValidationReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Engine:
    """Incrementally maintained views of one deployment. Use as a context manager, or call ``close``."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    def open(
        cls,
        spark: SparkSession | Callable[[], SparkSession] | None = None,
        catalog: str | None = None,
        warehouse: str | Path | None = None,
        settings: Settings | str | Path | None = None,
    ) -> Self:
        """Open a deployment.

        ``spark``: a classic or Connect session with Delta Lake, or a function that makes one when it is first needed, or
        None for one made from the settings. ``catalog`` (SQLAlchemy URL) and ``warehouse`` (folder or URL of the views'
        tables) override the settings. Raises SettingsError, CatalogError.
        """
        if not isinstance(settings, Settings):
            place = str(warehouse) if warehouse is not None else None
            settings = Settings.load(settings, catalog=catalog, warehouse=place)
        return cls(Session(settings, Catalog.open(settings.catalog), spark))

    def close(self) -> None:
        """Let go of the catalogue. A Spark session stays as it is."""
        self._session.catalog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._session.settings

    @property
    def spark(self) -> SparkSession:
        """The Spark session, opened at the first use, with the tables and views under their names."""
        return self._session.spark_with_names

    @property
    def catalog(self) -> Catalog:
        """The catalogue, for reading."""
        return self._session.catalog

    def create(self, sql: str) -> ViewRecord:
        """Register and build the view that a CREATE statement defines. Raises DefinitionError, ViewExistsError."""
        return create_view(self._session, sql)

    def register_table(
        self,
        name: str,
        location: str | None = None,
        primary_key: Iterable[str] = (),
        foreign_keys: Iterable[tuple[tuple[str, ...], str, tuple[str, ...]]] = (),
    ) -> TableRecord:
        """Tell the catalogue of a Delta table and its declared keys; tables that a view names are found without."""
        return register_base_table(self._session, name, location, tuple(primary_key), tuple(foreign_keys))

    def explain(self, view_or_sql: str) -> Explanation:
        """How a registered view, or a definition that need not be registered, is maintained, and why."""
        return explain(self._session, view_or_sql)

    def forecast(self, view: str) -> Forecast:
        """What the view's next batch would be and cost if it ran now; opens no Spark session where tables are local."""
        return forecast(self._session, self._session.catalog.view(qualified(view)))

    def cut(self, views: Iterable[str] | None = None, group: str | None = None, as_of: datetime | None = None) -> Cut:
        """The versions that a run of these views would end at; needs no Spark session where tables are on local paths.

        Raises SettingsError where ``as_of`` is in the future.
        """
        as_of, chosen = _not_ahead(as_of), select_views(self._session, views, group)
        follow_tables(self._session, {table for view in chosen for table in view.tables})
        return make_cut(self._session, chosen, as_of)

    def pending(self, cut: Cut, views: Iterable[str] | None = None, group: str | None = None) -> tuple[str, ...]:
        """The views that are not at the cut yet; needs no Spark session where tables are on local paths."""
        return pending_views(self._session, select_views(self._session, views, group), cut)

    def maintain(
        self,
        views: Iterable[str] | None = None,
        as_of: datetime | None = None,
        policy: Policy | str | None = None,
        group: str | None = None,
        cut: Cut | None = None,
        run_id: str | None = None,
        on_progress: Callable[[str, str], None] | None = None,
        raise_errors: bool = True,
        mode: Mode | str = Mode.CATCH_UP,
    ) -> list[MaintenanceReport]:
        """Bring views to one cut: those named, those of a group, or all; upstream views first.

        All views are tried; then the first failure is raised, unless ``raise_errors`` is False: its report has the
        message. ``policy`` overrides the views' own for this run. ``on_progress`` is called with a view and a stage.
        ``mode`` rewind: each view goes back to its newest batch at or before ``as_of`` and replays from there, to ``cut``
        or now; a run that is tried again under its ``run_id`` does not go back a second time. Raises SettingsError where
        ``as_of`` is in the future.
        """
        as_of = _not_ahead(as_of)
        chosen = select_views(self._session, views, group)
        rewind_to = None
        if Mode(mode) is Mode.REWIND:
            if as_of is None:
                raise ValueError("mode 'rewind' needs as_of: the instant to go back to")
            rewind_to, as_of = in_utc(as_of), None
        follow_tables(self._session, {table for view in chosen for table in view.tables}, opening=True)
        target = cut or make_cut(self._session, chosen, as_of)
        override = Policy.FULL if Mode(mode) is Mode.FULL else Policy(policy) if policy is not None else None
        reports, failures = maintain_views(self._session, chosen, target, override, run_id, on_progress, rewind_to)
        if failures and raise_errors:
            raise failures[0]
        return reports

    def refresh(self, view: str) -> MaintenanceReport:
        """Build a view anew from the newest versions."""
        return refresh_view(self._session, qualified(view))

    def read(self, view: str) -> DataFrame:
        """The view's visible columns as a DataFrame."""
        record = self._session.catalog.view(qualified(view))
        return self._session.read(record)

    def read_published(self, group: str) -> dict[str, DataFrame]:
        """The rows of a group's views, by name, all as of the cut that it published last, whatever has run since.

        Raises UnknownViewError where the group has published none, HistoryGone where a view's table or query is another now.
        """
        return read_published(self._session, group)

    def validate(self, view: str, measure_full: bool = False, run_id: str | None = None) -> ValidationReport:
        """Compare a view with its query at the versions it stands at, as bags, both ways.

        ``measure_full`` also times a full refresh into a scratch table in the same session.
        """
        return validate_view(self._session, qualified(view), measure_full, run_id)

    def repair(self, view: str, run_id: str | None = None) -> MaintenanceReport:
        """Mend the rows or groups in which a view differs from its query, as one batch that leaves it where it stands.

        Computed anew where they are more than ``limits.repair_rows`` by its last validation, or cannot be mended: the
        report says why.
        """
        return repair_view(self._session, self._session.catalog.view(qualified(view)), run_id)

    def drop(self, view: str) -> None:
        """Remove a view and its data. Raises ViewExistsError while other views read it."""
        drop_view(self._session, qualified(view))

    def status(self, views: Iterable[str] | None = None) -> list[ViewStatus]:
        """How views stand: lag, last batch, validation, retention left."""
        return status(self._session, views)

    def history(self, view: str, limit: int = 50) -> list[BatchRecord]:
        """The batches of a view, newest first."""
        name = self._session.catalog.view(qualified(view)).name
        return list(self._session.catalog.history(name, limit))

    def lineage(self, view: str | None = None) -> dict[str, tuple[str, ...]]:
        """The tables and views that each view reads; of one view, all that it rests on."""
        return lineage(self._session, qualified(view) if view else None)

    def column_lineage(self, views: Iterable[str] | None = None) -> dict[str, ColumnLineage]:
        """Which columns each column of the views, or of all, is computed from, and which decide about their rows."""
        return column_lineages(self._session, None if views is None else [qualified(name) for name in views])

    def plan(self, project_dir: str | Path | None = None) -> list[PlannedChange]:
        """What ``apply`` would change."""
        return plan_project(self._session, project_dir)

    def apply(
        self, project_dir: str | Path | None = None, on_progress: Callable[[str, str], None] | None = None
    ) -> list[PlannedChange]:
        """Create and change tables and views so that they are as the project's SQL files say, and write the manifest."""
        return apply_project(self._session, project_dir, on_progress)

    def query(self, sql: str) -> DataFrame:
        """The result of a SELECT over tables and views. Raises DefinitionError for anything but one SELECT."""
        return self._session.query(sql)

    def doctor(self) -> list[Check]:
        """Check Java, JARs, the catalogue, Change Data Feed and retention of every base table."""
        return doctor(self._session)

    def jobs(self, view_or_sql: str) -> dict[str, Any]:
        """The generated job of a batch in which every base table changed: JSON text by kind (``batch``, ``full``)."""
        from ivm_core.maintain.explain import jobs

        return jobs(self._session, view_or_sql)


def _not_ahead(as_of: datetime | None) -> datetime | None:
    """The instant. Raises SettingsError for the future."""
    if as_of is not None and is_ahead(in_utc(as_of), datetime.now(UTC)):
        raise SettingsError(
            f"as_of is in the future: {in_utc(as_of).isoformat(sep=' ', timespec='seconds')}. Nothing was changed. Give an "
            "instant that has passed (without an offset: UTC), or none for now."
        )
    return as_of
