"""What a task raises, split by the only question that Airflow asks: can a retry pass?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

CONCURRENT_CODES = frozenset({"CONCURRENT_COMMIT"})
PERMANENT_CODES = frozenset(
    {
        "DEFINITION",
        "DRIFT",
        "ENVIRONMENT",
        "HISTORY_GONE",
        "INVALID_NAME",
        "NONDETERMINISTIC",
        "NOT_INCREMENTAL",
        "SCHEMA_CHANGED",
        "SETTINGS",
        "UNKNOWN_COLUMN",
        "UNKNOWN_TABLE",
        "UNKNOWN_VIEW",
        "UNSUPPORTED_CONSTRUCT",
    }
)
CONSEQUENCE = "UPSTREAM_FAILED"  # not a cause of its own


class Concurrent(Exception):
    """Another commit won the race for the same table; the next try starts from what it left."""


class Permanent(Exception):
    """No retry can pass: the definition, the schema, the settings or the run's own parameters are wrong."""


class PartlyFailed(Exception):
    """Some views failed, for a reason that may pass; the others are done and stay done."""


def verdict(codes: set[str], message: str) -> Exception:
    """The failure to raise for the codes of one or more errors; a mixture is worth a retry."""
    causes = codes - {CONSEQUENCE}
    if causes and causes <= CONCURRENT_CODES:
        return Concurrent(message)
    if causes and causes <= PERMANENT_CODES:
        return Permanent(message)
    return PartlyFailed(message)


def failure_of(reports: Sequence[Mapping[str, Any]]) -> Exception | None:
    """What to raise for the reports of a group's views; None where none failed."""
    failed = [report for report in reports if report["error"]]
    if not failed:
        return None
    causes = [(report["view"], str(report["error_code"] or "ERROR"), report["error"]) for report in failed]
    return failure_of_views(causes, f"{len(failed)} of {len(reports)} views failed")


def failure_of_views(causes: Sequence[tuple[str, str, str]], what: str) -> Exception:
    """What to raise for views with the code and the message of each; ``what`` happened, for a start."""
    told = "; ".join(f"{view}: {message}" for view, _, message in causes)
    return verdict({code for _, code, _ in causes}, f"{what}. {told}")


@contextmanager
def translated() -> Iterator[None]:
    """Turn errors of ``ivm_core`` into these; whatever else is raised passes as it is, and Airflow retries it."""
    from ivm_core.errors import IvmError

    try:
        yield
    except IvmError as error:
        raise verdict({error.code}, error.message) from error
