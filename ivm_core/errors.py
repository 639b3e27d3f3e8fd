"""All errors that the package raises on purpose.

::

    IvmError                      every error of this package; carries ``code`` and ``exit_code``
    ├── DefinitionError           the CREATE statement or its query is wrong; has ``line`` and ``column``
    │   ├── UnsupportedConstruct  the query is valid SQL that cannot be kept as a view
    │   ├── NondeterministicError the query's result depends on more than its tables
    │   ├── UnknownTableError     a table that is not registered
    │   ├── UnknownColumnError    a column that its table does not have
    │   └── InvalidNameError      a name that cannot be used for a view
    ├── NotIncrementalError       ``incremental_strict`` and the batch cannot be incremental
    │   └── NoRule                an operator has no delta: the decision is full
    ├── UnknownViewError          no view is registered under the name
    ├── ViewExistsError           a different view is registered under the name, or something depends on it
    ├── BaseTableError            a base table is missing, replaced, or its history is gone
    │   ├── SchemaChangedError    a column that a view uses was dropped or retyped
    │   └── HistoryGone           versions or files that a batch needs can no longer be read
    ├── QueryFails                the view's query has no result for the rows that its tables hold
    ├── DriftError                a view differs from its query, or its state was edited by hand
    ├── Busy                      another process holds the view for too long; a retry can pass
    ├── ConcurrentCommit          another writer changed the view's table first; run again
    ├── CatalogError              the catalogue cannot be reached or is of another version
    ├── SettingsError             a settings file or option is wrong
    ├── EnvironmentProblem        Java, JARs or Spark are missing
    ├── AirflowProblem            Airflow cannot be reached, or refuses what it is asked
    ├── RunFailed                 a DAG run that was triggered has failed
    └── RunUnfinished             a DAG run that was triggered goes on longer than one wants to wait

Messages are one paragraph: what happened, where, what to do. They never hold secrets. State is unchanged when one is raised.
"""

from __future__ import annotations

UPSTREAM_FAILED = "UPSTREAM_FAILED"  # the code of a view whose failure is another one's: no cause of its own


class IvmError(Exception):
    """Base of all errors; ``code`` is stable for programs, ``exit_code`` is the command line's."""

    code = "ERROR"
    exit_code = 1

    def __init__(self, message: str) -> None:
        # A row's text may hold the character 0, and what keeps messages, as PostgreSQL, may not.
        self.message = message.replace("\0", "\ufffd")
        super().__init__(self.message)


class DefinitionError(IvmError):
    """The CREATE statement or its query is wrong; ``line`` and ``column`` count from 1 where they are known."""

    code = "DEFINITION"
    exit_code = 2

    def __init__(
        self, message: str, *, construct: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        position = f" (line {line}, column {column})" if line is not None else ""
        super().__init__(f"{message}{position}")
        self.construct = construct
        self.line = line
        self.column = column


class UnsupportedConstruct(DefinitionError):
    """Valid SQL that cannot be kept as a view; ``construct`` names it."""

    code = "UNSUPPORTED_CONSTRUCT"


class NondeterministicError(DefinitionError):
    """The query's result depends on more than its tables, as with ``rand()`` or ``current_user()``."""

    code = "NONDETERMINISTIC"


class UnknownTableError(DefinitionError):
    """The query names a table that is neither in the catalogue nor in the Spark session."""

    code = "UNKNOWN_TABLE"


class UnknownColumnError(DefinitionError):
    """The query names a column that its tables do not have."""

    code = "UNKNOWN_COLUMN"


class InvalidNameError(DefinitionError):
    """A view or column name that cannot be used, such as one with the hidden prefix ``__ivm_``."""

    code = "INVALID_NAME"


class NotIncrementalError(IvmError):
    """The view's policy is ``incremental_strict`` and it cannot be, or this batch cannot be, incremental."""

    code = "NOT_INCREMENTAL"
    exit_code = 3

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class NoRule(NotIncrementalError):
    """``operator`` can be neither weighted nor restricted to keys; the decision turns it into a full refresh."""

    code = "NO_RULE"

    def __init__(self, operator: str, reason: str) -> None:
        super().__init__(f"{operator}: {reason}", reason=reason)
        self.operator = operator


class UnknownViewError(IvmError):
    """No view is registered under the name."""

    code = "UNKNOWN_VIEW"
    exit_code = 4


class ViewExistsError(IvmError):
    """The name is taken by a view with another definition, or other views depend on the view."""

    code = "VIEW_EXISTS"
    exit_code = 4


class BaseTableError(IvmError):
    """A base table is missing, was dropped and created again, or its needed history is gone."""

    code = "BASE_TABLE"
    exit_code = 5


class SchemaChangedError(BaseTableError):
    """A base-table column that a view uses was dropped or retyped."""

    code = "SCHEMA_CHANGED"


class HistoryGone(BaseTableError):
    """Versions or files that a batch needs were removed by VACUUM or log cleanup, or are past their retention."""

    code = "HISTORY_GONE"


class QueryFails(IvmError):
    """The view's query has no result for the rows that its tables hold: a division by zero, a subquery of several rows."""


class DriftError(IvmError):
    """A view's contents differ from its query's, or its state table was changed by something else."""

    code = "DRIFT"
    exit_code = 6


class Busy(IvmError):
    """Another process holds the view for too long; a later retry can pass."""

    code = "BUSY"
    exit_code = 10


class ConcurrentCommit(IvmError):
    """Another writer committed to the view's table while this batch was computed; nothing was written, run it again."""

    code = "CONCURRENT_COMMIT"
    exit_code = 10


class CatalogError(IvmError):
    """The catalogue's database cannot be reached, or its schema is of another version."""

    code = "CATALOG"
    exit_code = 7


class SettingsError(IvmError):
    """A settings file, environment variable or option is wrong."""

    code = "SETTINGS"
    exit_code = 8


class EnvironmentProblem(IvmError):
    """Java, the Delta JARs or Spark are missing or of the wrong version."""

    code = "ENVIRONMENT"
    exit_code = 9


class AirflowProblem(IvmError):
    """Airflow cannot be reached, knows no such DAG, or refuses the login or the parameters."""

    code = "AIRFLOW"
    exit_code = 12


class RunFailed(IvmError):
    """The triggered DAG run has failed; its report and logs say why."""

    code = "RUN_FAILED"
    exit_code = 13


class RunUnfinished(IvmError):
    """The triggered DAG run has not finished in the time given; it goes on."""

    code = "RUN_UNFINISHED"
    exit_code = 10
