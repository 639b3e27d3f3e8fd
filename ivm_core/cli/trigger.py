"""`ivm trigger`: start the DAG of a group through Airflow, watch it, and end as it ends."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ivm_core.cli.airflow_api import AirflowApi
from ivm_core.cli.groups import Target, find_target
from ivm_core.cli.options import AsJson, AsOf, SettingsFile, one_of, progress
from ivm_core.cli.output import console, print_json, print_table, seconds, text, verdict
from ivm_core.errors import AirflowProblem, RunFailed, RunUnfinished

MODES = ("catch_up", "rewind", "full", "incremental", "incremental_strict")
REASON_LENGTH = 500
TASKS = ("cut", "maintain", "validate", "report")
POLL_SECONDS = 1.0
LOST_SECONDS = 120.0  # Airflow's API may be restarted while a run goes on
FINISHED = frozenset({"success", "failed"})


@dataclass(frozen=True, slots=True)
class Triggered:
    """A run that was started. ``report``: the summary that its last task returned, None where it got not so far."""

    dag_id: str
    run_id: str
    state: str
    url: str
    seconds: float = 0.0
    tasks: dict[str, str] = field(default_factory=dict)
    report: dict[str, Any] | None = None


def parse_mode(value: str) -> str:
    """One of ``MODES``."""
    return one_of(value, MODES)


def trigger(
    target: Annotated[str, typer.Argument(metavar="GROUP|VIEW", help="A maintenance group, or one view of one.")],
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            parser=parse_mode,
            metavar="MODE",
            help="catch_up; rewind: back to where the views stood at --as-of, and on from there to now; full; incremental or "
            "incremental_strict: catch up by that policy.",
        ),
    ] = "catch_up",
    as_of: AsOf = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="For the run's report.")] = "",
    validate: Annotated[
        bool, typer.Option("--validate", help="Compare every view with its query, and time a full refresh.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the run's end; its outcome is the exit code.")
    ] = True,
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=1, metavar="SECONDS", help="Wait no longer; the run goes on.")
    ] = None,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Run a group's DAG in Airflow now, and wait for its end."""
    from ivm_core.settings import Settings

    if len(reason) > REASON_LENGTH:
        raise typer.BadParameter(f"--reason takes at most {REASON_LENGTH} characters")
    if mode == "rewind" and as_of is None:
        raise typer.BadParameter("--mode rewind needs --as-of: the time to go back to")
    loaded = Settings.load(settings)
    found = find_target(loaded.manifest, target)
    api = AirflowApi(loaded.airflow)
    conf: dict[str, Any] = {"mode": mode}
    conf |= {"views": list(found.views)} if found.views else {}
    conf |= {"as_of": as_of.isoformat()} if as_of else {}
    conf |= {"reason": reason} if reason else {}
    conf |= {"measure_full": True} if validate else {}
    with progress(as_json) as on_progress:
        outcome = _start(api, found, conf, reason)
        if wait:
            outcome = _follow(api, outcome, timeout, on_progress)
    if as_json:
        print_json(outcome)
    else:
        _show(outcome)
    if outcome.state == "failed":
        # With --json the run is on stdout already, with its tasks and report.
        if as_json:
            raise typer.Exit(RunFailed.exit_code)
        raise RunFailed(f"The run {outcome.run_id} failed{_why(outcome)}. See {outcome.url}")


def _start(api: AirflowApi, target: Target, conf: dict[str, Any], reason: str) -> Triggered:
    if api.dag(target.dag_id).get("is_paused"):
        raise AirflowProblem(
            f"The DAG {target.dag_id} is paused: nothing it is asked would run. Unpause it in Airflow."
        )
    # An id of our own: should the answer be lost, the same request cannot start a second run.
    run_id = f"ivm_trigger__{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}_{secrets.token_hex(4)}"
    state = str(api.trigger(target.dag_id, run_id, conf, reason or None)["state"])
    return Triggered(target.dag_id, run_id, state, f"{api.url}/dags/{target.dag_id}/runs/{run_id}")


def _follow(
    api: AirflowApi, run: Triggered, timeout: float | None, on_progress: Callable[[str, str], None]
) -> Triggered:
    started = heard = time.monotonic()
    while True:
        try:
            state = str(api.run(run.dag_id, run.run_id)["state"])
            tasks = api.task_states(run.dag_id, run.run_id)
            heard = time.monotonic()
        except AirflowProblem:
            if time.monotonic() - heard > LOST_SECONDS:
                raise
        else:
            on_progress(run.dag_id, ", ".join(f"{name} {tasks[name]}" for name in TASKS if name in tasks) or state)
            if state in FINISHED:
                report = api.result(run.dag_id, run.run_id, TASKS[-1])
                passed = time.monotonic() - started
                return Triggered(run.dag_id, run.run_id, state, run.url, round(passed, 1), tasks, report)
        if timeout is not None and time.monotonic() - started > timeout:
            raise RunUnfinished(f"The run {run.run_id} has not finished in {timeout:g} s and goes on. See {run.url}")
        time.sleep(POLL_SECONDS)


def _show(run: Triggered) -> None:
    if run.tasks:
        print_table(
            ("", "task", "state"),
            [
                (
                    verdict({"success": True, "skipped": None}.get(run.tasks[name], False)),
                    text(name),
                    text(run.tasks[name]),
                )
                for name in TASKS
                if name in run.tasks
            ],
        )
    if run.report:
        strategies = ", ".join(f"{count} {name}" for name, count in (run.report.get("strategies") or {}).items())
        console().print(f"{text(run.report.get('views'))} views: {text(strategies)}. {text(run.report.get('page'))}")
    took = f" in {seconds(run.seconds)}" if run.seconds else ""
    console().print(f"{text(run.dag_id)} {text(run.run_id)}: {text(run.state)}{took}", soft_wrap=True)


def _why(run: Triggered) -> str:
    report = run.report or {}
    told = [what for what in ("unfinished", "failed", "drifted", "unmet", "uncompared") if report.get(what)]
    parts = [f"{what}: {', '.join(map(str, report[what]))}" for what in told]
    broken = [f"{name} {state}" for name, state in run.tasks.items() if state == "failed"]
    return f" ({'; '.join(parts or broken)})" if parts or broken else ""
