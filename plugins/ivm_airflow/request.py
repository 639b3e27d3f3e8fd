"""What a DAG run asks for, read from its parameters as untrusted input."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ivm_airflow.failures import Permanent

POLICIES = ("incremental", "incremental_strict", "full")
MODES = ("catch_up", "rewind", *POLICIES)
OTHER_NAMES = {"auto": "catch_up"}
KEYS = frozenset({"views", "mode", "as_of", "measure_full", "reason"})
REASON_LENGTH = 500
# What others put among the parameters: OpenLineage's provider into those of a DAG whose lineage was switched on or off alone,
# and, through TriggerDagRunOperator, of runs that another DAG starts; Airflow itself, for how much a run's traces tell.
FOREIGN = frozenset({"_selective_enable_ol", "openlineage", "airflow/task_span_detail_level"})
WITH_INTERVAL = ("scheduled", "backfill")
BY_ASSETS = "asset_triggered"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A checked request. ``views`` None: the whole group; ``as_of`` None: the run's own instant."""

    views: tuple[str, ...] | None = None
    mode: str = "catch_up"
    as_of: datetime | None = None
    measure_full: bool = False
    reason: str = ""

    @property
    def policy(self) -> str | None:
        """The policy that overrides the views' own; None leaves each view its own."""
        return self.mode if self.mode in POLICIES else None

    @property
    def rewinds(self) -> bool:
        """True where the views first go back in time."""
        return self.mode == "rewind"

    @property
    def repeats(self) -> bool:
        """True where the run does again what was done before."""
        return self.mode in ("full", "rewind")

    @property
    def forced(self) -> bool:
        """True where the run has work even if every view is already at its target."""
        return self.repeats or self.measure_full


def parse_request(params: Mapping[str, Any], allowed: Collection[str]) -> RunRequest:
    """Check the parameters of a run against ``allowed``, the registered views of its group. Raises Permanent.

    Nothing that fails here has reached SQL, a path or a command; what passes is either one of ``allowed``, one of
    ``MODES``, a datetime, a boolean or (``reason``) text that is only ever shown.
    """
    if unknown := sorted(set(map(str, params)) - KEYS - FOREIGN):
        raise Permanent(f"Unknown parameters {unknown!r}. A run takes {sorted(KEYS)}.")
    reason = params.get("reason") or ""
    if not isinstance(reason, str) or len(reason) > REASON_LENGTH or not _is_writable(reason):
        raise Permanent(f"`reason` must be text of at most {REASON_LENGTH} characters, all of which UTF-8 can hold.")
    mode = params.get("mode") or "catch_up"
    mode = OTHER_NAMES.get(mode, mode) if isinstance(mode, str) else mode
    if mode not in MODES:
        raise Permanent(f"`mode` must be one of {', '.join(MODES)}; it is {mode!r:.80}.")
    measure_full = params.get("measure_full") or False
    if not isinstance(measure_full, bool):
        raise Permanent(f"`measure_full` must be true or false; it is {measure_full!r:.80}.")
    return RunRequest(
        views=_views(params.get("views"), allowed),
        mode=mode,
        as_of=_instant(params.get("as_of")),
        measure_full=measure_full,
        reason=reason,
    )


def check_heard(context: Mapping[str, Any]) -> None:
    """Raise Permanent where Airflow kept what the run was asked for from its parameters: it would do something else."""
    asked = getattr(context.get("dag_run"), "conf", None) or {}
    if unheard := sorted(key for key in KEYS & set(asked) if context["params"].get(key) != asked[key]):
        raise Permanent(
            f"Airflow does not let a run set {', '.join(unheard)}: [core] dag_run_conf_overrides_params is off in its "
            "configuration. Nothing was done. Switch it on, or start the run without parameters."
        )


def target(request: RunRequest, context: Mapping[str, Any]) -> datetime | None:
    """The instant T that the views are brought to, in UTC.

    ``as_of`` where given (``rewind`` goes back to that); the interval's end for runs that a schedule or a backfill cut
    out of time; ``run_after`` for the others. A manual run's inferred interval ends at the last tick of the schedule,
    before the changes that somebody who presses the button wants to see. Asset and on-demand runs have no interval at all.

    Runs that assets start go on to where they began: Airflow tells them when the first event came that they answer, and
    of those that came since, until it made the run, no other run will be made.
    """
    if request.as_of is not None and not request.rewinds:
        return request.as_of
    run = context.get("dag_run")
    instant = _in_utc(_of_interval(context, "data_interval_end") or getattr(run, "run_after", None))
    began = _in_utc(getattr(run, "start_date", None)) if _type_of(run) == BY_ASSETS else None
    return max(instant, began) if instant and began else instant


def moves_when_cleared(request: RunRequest, context: Mapping[str, Any]) -> bool:
    """True where ``target`` of a run that somebody clears is later than it was: that of a run which assets start."""
    return _type_of(context.get("dag_run")) == BY_ASSETS and (request.as_of is None or request.rewinds)


def rewind_to(request: RunRequest, context: Mapping[str, Any]) -> datetime | None:
    """The instant that the views go back to first, None where they do not: ``as_of``, else where the run's interval begins.

    Raises Permanent where the run has neither.
    """
    if not request.rewinds:
        return None
    instant = request.as_of or _in_utc(_of_interval(context, "data_interval_start"))
    if instant is None:
        raise Permanent(
            "`rewind` needs `as_of`, the instant to go back to: only scheduled runs and backfills have an interval to begin at."
        )
    return instant


def _is_writable(text: str) -> bool:
    """Whether a file and a database can hold the text: JSON may name halves of characters, and the character 0."""
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in text)


def _of_interval(context: Mapping[str, Any], key: str) -> Any:
    return context.get(key) if _type_of(context.get("dag_run")) in WITH_INTERVAL else None


def _type_of(run: Any) -> str:
    return str(getattr(getattr(run, "run_type", None), "value", getattr(run, "run_type", "")))


def _in_utc(instant: Any) -> datetime | None:
    return None if instant is None else datetime.fromtimestamp(instant.timestamp(), UTC)


def _views(value: Any, allowed: Collection[str]) -> tuple[str, ...] | None:
    if value is None or value == []:
        return None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise Permanent("`views` must be a list of view names, or null for the whole group.")
    names = tuple(dict.fromkeys(name.lower() for name in value))
    if unknown := [name for name in names if name not in allowed]:
        raise Permanent(
            f"Not registered in this group: {', '.join(repr(name[:80]) for name in unknown[:5])}. "
            f"It has {', '.join(sorted(allowed)[:20])}."
        )
    return names


def _instant(value: Any) -> datetime | None:
    from ivm_core.batch.clock import is_ahead  # not where DAG files are parsed

    if value is None or value == "":
        return None
    try:
        instant = datetime.fromisoformat(value)
        instant = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise Permanent(
            f"`as_of` must be an ISO 8601 date and time, such as 2026-11-21T10:00:00Z; it is {value!r:.80}."
        ) from None
    if is_ahead(instant, datetime.now(UTC)):
        raise Permanent(f"`as_of` must not be in the future; it is {value!r:.80}. Leave it empty for now.")
    return instant
