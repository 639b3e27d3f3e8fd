"""What the page reads: the deployment's catalogue, the tables' logs, and the explanation of a view. Never a JVM."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Self

from ivm_airflow.manifest import settings_path
from ivm_airflow.web.lag import LagReader

if TYPE_CHECKING:
    from ivm_core import Explanation
    from ivm_core.catalog.catalog import Catalog
    from ivm_core.catalog.model import BatchRecord, ValidationRecord, ViewActivity
    from ivm_core.settings import Settings

EXPLANATIONS = 100  # kept by view and definition; a few hundred kilobytes each at most


class Store:
    """One a process; its methods may be called by several threads. All may raise IvmError."""

    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        self.settings, self.catalog = settings, catalog
        self.lags = LagReader()
        self._explained: OrderedDict[str, Explanation] = OrderedDict()
        self._compiling = threading.Lock()

    @classmethod
    def open(cls) -> Self:
        """The deployment that ``IVM_SETTINGS`` names. Raises IvmError."""
        from ivm_core.catalog.catalog import Catalog
        from ivm_core.settings import Settings

        settings = Settings.load(settings_path())
        return cls(settings, Catalog.open(settings.catalog))

    def activity(self) -> tuple[ViewActivity, ...]:
        """All views with their newest batch, attempt and validation."""
        return self.catalog.activity()

    def locations(self) -> dict[str, str]:
        """Where every base table and every view's state lies."""
        tables = {table.name: table.location for table in self.catalog.tables()}
        return tables | {view.name: view.location for view in self.catalog.views()}

    def history(self, view: str, limit: int) -> tuple[BatchRecord, ...]:
        """The newest attempts first."""
        return self.catalog.history(view, limit)

    def validations(self, view: str, limit: int) -> tuple[ValidationRecord, ...]:
        """The newest first."""
        return self.catalog.validations(view, limit)

    def explanation(self, view: str) -> Explanation:
        """Plan, delta plan and generated SQL; compiled once for a definition. Raises what ``unreadable`` lists."""
        from ivm_core.maintain.explain import explain
        from ivm_core.maintain.session import Session

        record = self.catalog.view(view)
        key = f"{record.view_id} {record.fingerprint} {record.sql}"
        with self._compiling:
            if key not in self._explained:
                self._explained[key] = explain(Session(self.settings, self.catalog), record.name)
                while len(self._explained) > EXPLANATIONS:
                    self._explained.popitem(last=False)
            self._explained.move_to_end(key)
            return self._explained[key]
