"""`ivm trigger` against a small server that answers as Airflow's API does."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ivm_core.cli import trigger
from ivm_core.cli.groups import dag_id
from tests.cli.conftest import Run

PASSWORD = "s3cret-of-airflow"
MANIFEST = {"version": 1, "groups": [{"name": "hourly", "views": [{"name": "gold.sales"}, {"name": "gold.costs"}]}]}
SUMMARY = {"views": 2, "ok": True, "strategies": {"incremental": 2}, "failed": [], "drifted": [], "page": "/r.html"}


class Airflow:
    """What the server knows and was asked. ``states``: of the run, one for each time that it is looked at."""

    def __init__(self) -> None:
        self.states = ["queued", "running", "success"]
        self.paused, self.answer = False, None
        self.summary: dict[str, Any] = SUMMARY
        self.triggered: list[dict[str, Any]] = []
        self.logins: list[dict[str, Any]] = []
        self.open = False
        self.lost = 0  # so many times it does not tell of a run

    def reply(self, method: str, path: str, body: Any, token: str | None) -> tuple[int, Any]:
        if path == "/auth/token":
            self.logins.append(body)
            if body == {"username": "ann", "password": PASSWORD} or (method == "GET" and self.open):
                return 201, {"access_token": "t0ken"}
            if body is not None and len(body["password"]) < 8:  # as validators do: the body comes back
                return 422, {"detail": [{"loc": ["body", "password"], "msg": "too short", "input": body["password"]}]}
            return 401, {"detail": "Invalid credentials"}
        if token != "Bearer t0ken":
            return 401, {"detail": "Not authenticated"}
        if self.answer is not None:
            return self.answer
        rest = path.removeprefix("/api/v2/dags/ivm_hourly")
        if rest == path:
            return 404, {"detail": "The DAG was not found"}
        if rest == "":
            return 200, {"dag_id": "ivm_hourly", "is_paused": self.paused}
        if method == "POST" and rest == "/dagRuns":
            self.triggered.append(body)
            return 200, {"state": "queued"}
        if self.lost:
            self.lost -= 1
            return 503, {"detail": "starting"}
        if rest.endswith("/taskInstances"):
            return 200, {
                "task_instances": [{"task_id": "cut", "state": "success"}, {"task_id": "maintain", "state": None}]
            }
        if "/xcomEntries/" in rest:
            return 200, {"value": self.summary}
        return 200, {"state": self.states.pop(0) if len(self.states) > 1 else self.states[0]}


@pytest.fixture
def airflow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Airflow]:
    """A running server, a manifest, and settings that name them."""
    known = Airflow()

    class Handler(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            path = self.path.partition("?")[0]
            code, answer = known.reply(self.command, path, body, self.headers.get("Authorization"))
            self.send_response(code)
            if code == 307:
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        do_GET = do_POST = handle_one  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    (folder / ".ivm").mkdir()
    (folder / ".ivm" / "manifest.json").write_text(json.dumps(MANIFEST), "utf-8")
    monkeypatch.setenv("IVM_AIRFLOW__URL", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("IVM_AIRFLOW__USERNAME", "ann")
    monkeypatch.setenv("IVM_AIRFLOW__PASSWORD", PASSWORD)
    monkeypatch.setattr(trigger, "POLL_SECONDS", 0.01)
    yield known
    server.shutdown()
    server.server_close()
    serving.join(5)


def test_a_group_is_run_and_watched_to_its_end(run: Run, airflow: Airflow) -> None:
    result = run("trigger", "hourly", "--reason", "price list was wrong")
    assert result.code == 0, result.err
    assert "success" in result.out and "2 views: 2 incremental" in result.out
    [asked] = airflow.triggered
    assert asked["conf"] == {"mode": "catch_up", "reason": "price list was wrong"}
    assert asked["logical_date"] is None and asked["dag_run_id"].startswith("ivm_trigger__")
    assert asked["note"] == "price list was wrong"


def test_a_view_is_run_in_its_group(run: Run, airflow: Airflow) -> None:
    result = run("trigger", "gold.SALES", "--mode", "rewind", "--as-of", "2026-11-01T00:00Z", "--json")
    assert result.code == 0
    assert airflow.triggered[0]["conf"] == {
        "mode": "rewind",
        "views": ["gold.sales"],
        "as_of": "2026-11-01T00:00:00+00:00",
    }
    assert result.json["state"] == "success" and result.json["report"] == SUMMARY
    assert result.json["tasks"] == {"cut": "success"}
    assert result.json["run_id"] == airflow.triggered[0]["dag_run_id"]


@pytest.mark.parametrize(("seconds", "code"), [(60, 0), (0, 12)])
def test_airflow_s_api_may_be_away_for_a_while(
    run: Run, airflow: Airflow, monkeypatch: pytest.MonkeyPatch, seconds: float, code: int
) -> None:
    monkeypatch.setattr(trigger, "LOST_SECONDS", seconds)
    airflow.lost = 15
    result = run("trigger", "hourly")
    assert result.code == code, result.err


def test_nobody_need_wait(run: Run, airflow: Airflow) -> None:
    airflow.states = ["running"]
    assert run("trigger", "hourly", "--no-wait", "--json").json["state"] == "queued"
    waited = run("trigger", "hourly", "--timeout", "1")
    assert waited.code == 10 and "goes on" in waited.paragraph


def test_a_failed_run_is_a_failed_command(run: Run, airflow: Airflow) -> None:
    airflow.states, airflow.summary = ["failed"], {**SUMMARY, "failed": ["gold.sales"]}
    result = run("trigger", "hourly")
    assert result.code == 13 and "failed: gold.sales" in result.paragraph
    as_json = run("trigger", "hourly", "--json")
    assert as_json.code == 13 and as_json.json["state"] == "failed"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nosuch",), 4, "There is no group or view 'nosuch'"),
        (("hourly'; DROP TABLE x",), 4, "There is no group or view"),
        (("../../api/v2/pools",), 4, "There is no group or view"),
        (("hourly", "--mode", "auto; x"), 64, "use one of"),
        (("hourly", "--mode", "rewind"), 64, "--as-of"),
        (("hourly", "--as-of", "yesterday"), 64, "ISO 8601"),
        (("hourly", "--reason", "x" * 501), 64, "500"),
    ],
)
def test_what_is_wrong_is_never_sent(
    run: Run, airflow: Airflow, arguments: tuple[str, ...], code: int, words: str
) -> None:
    result = run("trigger", *arguments)
    assert result.code == code and words in result.paragraph
    assert not airflow.triggered and not airflow.logins


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((400, {"detail": "Invalid input for param mode"}), "Invalid input for param mode"),
        ((403, {"detail": "Forbidden"}), "refuses the login or the right"),
        ((404, {"detail": "The DAG was not found"}), "has no DAG ivm_hourly"),
        ((500, {"detail": None}), "500"),
        ((307, {}), "307"),
    ],
)
def test_what_airflow_refuses_is_told(run: Run, airflow: Airflow, answer: tuple[int, Any], words: str) -> None:
    airflow.answer = answer
    result = run("trigger", "hourly")
    assert result.code == 12 and words in result.paragraph
    assert PASSWORD not in result.err and "t0ken" not in result.err


def test_a_paused_dag_is_not_waited_for(run: Run, airflow: Airflow) -> None:
    airflow.paused = True
    result = run("trigger", "hourly")
    assert result.code == 12 and "paused" in result.paragraph and not airflow.triggered


@pytest.mark.parametrize("password", ["wr0ng-one", "sh0rt"])
def test_a_wrong_password_is_not_printed(
    run: Run, airflow: Airflow, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    monkeypatch.setenv("IVM_AIRFLOW__PASSWORD", password)
    result = run("trigger", "hourly", "--json")
    assert result.code == 12 and result.json["error"]["code"] == "AIRFLOW"
    assert password not in result.out + result.err


def test_where_all_are_administrators_nobody_logs_in(
    run: Run, airflow: Airflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IVM_AIRFLOW__USERNAME")
    assert run("trigger", "hourly", "--no-wait").code == 12
    airflow.open = True
    assert run("trigger", "hourly", "--no-wait").code == 0


def test_an_airflow_that_is_not_there(run: Run, airflow: Airflow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_AIRFLOW__URL", "http://127.0.0.1:9")
    result = run("trigger", "hourly")
    assert result.code == 12 and "does not answer" in result.paragraph
    monkeypatch.setenv("IVM_AIRFLOW__URL", "http://ann:s3cret@host")
    refused = run("trigger", "hourly")
    assert refused.code == 8 and "s3cret" not in refused.err


@pytest.mark.parametrize("group", ["hourly", "Größe", "../x", "a b", "", "x" * 90, "cron_0_any_any_any_any"])
def test_a_group_s_dag_has_the_same_id_here_and_in_the_plugin(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "plugins"))
    from ivm_airflow import slug

    assert dag_id(group) == slug.dag_id(group)
    assert "ivm_airflow" in sys.modules
