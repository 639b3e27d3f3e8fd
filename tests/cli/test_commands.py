"""Each command calls one use case and prints its answer as text and as JSON; the engine is a recording stand-in."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from ivm_core.apply.model import MaintenanceReport
from ivm_core.catalog.model import BatchRecord
from ivm_core.cost.model import Reason, Strategy
from ivm_core.errors import BaseTableError, DefinitionError, IvmError, UnknownTableError, UnknownViewError
from ivm_core.maintain import Check, Explanation, Forecast, Foretold, OperatorStrategy, PlannedChange, ViewStatus
from ivm_core.plan.column_lineage import ColumnLineage
from ivm_core.plan.origins import Effect, Origin
from ivm_core.settings import Settings
from ivm_core.validate.model import DifferingRow, ValidationReport
from tests.cli.conftest import Run

NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)
REPORT = MaintenanceReport(
    view="gold.sales", strategy=Strategy.INCREMENTAL, reason=Reason.LINEAR, from_versions={"shop.orders": 3},
    to_versions={"shop.orders": 5}, rows_changed=1234, seconds=0.5, batch=7,
)  # fmt: skip
VALIDATION = ValidationReport(view="gold.sales", ok=True, rows=10, versions={"shop.orders": 5}, seconds=1.0)
STATUS = ViewStatus(
    view="gold.sales", group="hourly", status="active", versions={"shop.orders": 3}, lag_versions={"shop.orders": 2},
    lag_rows=5000, lag_seconds=90.0, last_strategy="incremental", last_reason="linear", last_seconds=0.5,
    last_finished_at=NOON, validated=True, validated_at=NOON, retention_left_seconds=3600.0 * 24 * 6, reads_as_is=False,
    location="/w/sales",
)  # fmt: skip
EXPLANATION = Explanation(
    view="gold.sales", plan="Scan shop.orders", delta="Changes shop.orders", strategy="incremental", reason="linear",
    detail="", state="bag", operators=(OperatorStrategy("Scan shop.orders", "incremental"),),
    sql={"changes": "SELECT 1 AS [a]"}, job='{"view": "gold.sales"}',
)  # fmt: skip
BATCH = BatchRecord(
    view="gold.sales", number=7, strategy=Strategy.FULL, reason=Reason.CHEAPER, detail="", from_versions={},
    to_versions={"shop.orders": 5}, rows_changed=3, seconds=2.0, predicted_incremental_seconds=5.0,
    predicted_full_seconds=2.0, started_at=NOON, finished_at=NOON, changed_rows={}, state_rows=None, error=None,
    run_id=None, job=None,
)  # fmt: skip


class Frame:
    """As much of a DataFrame as ``ivm query`` needs."""

    columns = ("country", "[bold]amount")

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self.rows = rows

    def limit(self, count: int) -> Frame:
        return Frame(self.rows[:count])

    def collect(self) -> list[tuple[Any, ...]]:
        return self.rows


class StandIn:
    """Records the one call of a command and answers with what the test prepared."""

    answers: dict[str, Any]
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]]

    @classmethod
    def open(cls, settings: Settings, spark: object) -> Self:
        engine = cls()
        engine.settings = settings
        return engine

    settings: Settings

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append((name, arguments, options))
            answer = self.answers[name]
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    StandIn.answers, StandIn.calls = {}, []
    monkeypatch.setattr("ivm_core.maintain.Engine", StandIn)
    return StandIn


def test_maintain(run: Run, engine: type[StandIn]) -> None:
    engine.answers["maintain"] = [REPORT]
    result = run("maintain", "gold.sales", "--as-of", "2026-05-31T14:00+02:00", "--policy", "full", "--json")
    assert result.code == 0
    assert result.json == [json.loads(json.dumps(dict(result.json[0])))]
    assert result.json[0]["strategy"] == "incremental" and result.json[0]["to_versions"] == {"shop.orders": 5}
    ((name, arguments, options),) = engine.calls
    assert (name, arguments) == ("maintain", (["gold.sales"],))
    assert options["as_of"] == NOON and options["policy"] == "full" and options["group"] is None

    shown = run("maintain", "--group", "hourly")
    assert engine.calls[1][1] == (None,) and engine.calls[1][2]["group"] == "hourly"
    assert "gold.sales" in shown.out and "1,234" in shown.out and "linear" in shown.out and not shown.err


def test_a_run_can_go_back_in_time(run: Run, engine: type[StandIn]) -> None:
    engine.answers["maintain"] = [replace(REPORT, strategy=Strategy.REWIND, reason=Reason.REWOUND)]
    shown = run("maintain", "--mode", "REWIND", "--as-of", "2026-05-31 12:00")
    assert engine.calls[0][2]["mode"] == "rewind" and engine.calls[0][2]["as_of"] == NOON
    assert "rewound" in shown.out
    run("maintain")
    assert engine.calls[1][2]["mode"] == "catch_up"


def test_instant_without_zone_is_utc(run: Run, engine: type[StandIn]) -> None:
    engine.answers["maintain"] = [REPORT]
    run("maintain", "--as-of", "2026-05-31 12:00")
    assert engine.calls[0][2]["as_of"] == NOON


def test_failed_batches_have_their_own_exit_codes(run: Run, engine: type[StandIn]) -> None:
    failed = replace(REPORT, view="gold.other", error="shop.orders is\n missing [/x]", error_code=BaseTableError.code)
    engine.answers["maintain"] = [REPORT, failed]
    result = run("maintain")
    assert result.code == BaseTableError.exit_code
    assert result.paragraph.endswith("gold.other: shop.orders is missing [/x]")
    assert "gold.sales" in result.out
    above = replace(failed, view="gold.above", error_code="UPSTREAM_FAILED")
    engine.answers["maintain"] = [failed, above]
    assert run("maintain").code == BaseTableError.exit_code
    engine.answers["maintain"] = [failed, replace(failed, error_code=None), above]
    assert run("maintain").code == 11
    engine.answers["maintain"] = [replace(failed, error_code=None)]
    assert run("maintain", "--json").code == 1


def test_refresh(run: Run, engine: type[StandIn]) -> None:
    engine.answers["refresh"] = REPORT
    assert run("refresh", "gold.sales", "gold.b").code == 0
    assert [arguments for _, arguments, _ in engine.calls] == [("gold.sales",), ("gold.b",)]


def test_validate(run: Run, engine: type[StandIn]) -> None:
    engine.answers |= {"validate": VALIDATION, "status": [STATUS]}
    assert run("validate").code == 0
    assert engine.calls[1] == ("validate", ("gold.sales",), {"measure_full": False})
    row = DifferingRow({"country": "[red]DE"}, 2)
    engine.answers["validate"] = replace(VALIDATION, ok=False, missing=(row,), missing_count=2, full_seconds=3.0)
    result = run("validate", "gold.sales", "--measure-full")
    assert result.code == 6
    assert "missing 2 × country [red]DE" in result.out and "3.0 s" in result.out
    assert run("validate", "gold.sales", "--json").json[0]["missing"] == [{"row": {"country": "[red]DE"}, "copies": 2}]


@pytest.mark.parametrize("command", ["validate", "refresh"])
@pytest.mark.parametrize(
    ("failure", "code", "told", "kind"),
    [
        (
            BaseTableError("The table shop.orders of gold.b is gone."),
            5,
            "The table shop.orders of gold.b is gone.",
            "BASE_TABLE",
        ),
        (RuntimeError("no room"), 1, "gold.b: RuntimeError: no room", "ERROR"),
    ],
)
def test_a_view_that_fails_hides_no_others(
    run: Run, engine: type[StandIn], monkeypatch: pytest.MonkeyPatch, command: str, failure, code, told, kind
) -> None:
    def fails_for_b(self: StandIn, view: str, **options: object) -> object:
        if view == "gold.b":
            raise failure
        return answers[command]

    answers: dict[str, Any] = {"validate": VALIDATION, "refresh": REPORT}
    monkeypatch.setattr(StandIn, command, fails_for_b, raising=False)
    result = run(command, "gold.b", "gold.sales", "--json")
    assert (result.code, [report["view"] for report in result.json]) == (code, ["gold.sales"])
    assert result.paragraph == f"✗ {told}"
    assert run(command, "gold.b", "--json").json["error"]["code"] == kind


def test_a_view_that_fails_hides_no_drift(run: Run, engine: type[StandIn], monkeypatch: pytest.MonkeyPatch) -> None:
    def validate(self: StandIn, view: str, **options: object) -> ValidationReport:
        if view == "gold.b":
            raise BaseTableError("The table shop.orders of gold.b is gone.")
        return replace(VALIDATION, ok=False)

    monkeypatch.setattr(StandIn, "validate", validate, raising=False)
    assert run("validate", "gold.b", "gold.sales").code == 11


def test_status(run: Run, engine: type[StandIn]) -> None:
    engine.answers["status"] = [STATUS]
    shown = run("status").out
    assert all(
        part in shown for part in ("gold.sales", "shop.orders +2", "5,000", "1 min 30 s", "incremental", "6 d 0 h")
    )
    assert run("status", "--json").json[0]["last_finished_at"] == "2026-05-31T12:00:00+00:00"


def test_history(run: Run, engine: type[StandIn]) -> None:
    engine.answers["history"] = [BATCH]
    assert "cheaper" in run("history", "gold.sales", "--limit", "3").out
    assert engine.calls == [("history", ("gold.sales",), {"limit": 3})]


def test_query_reads_a_view_or_runs_a_select(run: Run, engine: type[StandIn]) -> None:
    frame = Frame([("DE", 1.5), (None, float("nan")), ("US", 3)])
    engine.answers |= {"read": frame, "query": frame}
    assert run("query", "gold.sales", "--limit", "2", "--json").json == [
        {"country": "DE", "[bold]amount": 1.5}, {"country": None, "[bold]amount": "nan"},
    ]  # fmt: skip
    assert "[bold]amount" in run("query", "SELECT * FROM gold.sales").out
    assert [name for name, _, _ in engine.calls] == ["read", "query"]


def test_no_column_is_lost_in_json(run: Run, engine: type[StandIn], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Frame, "columns", ("id", "id"))
    engine.answers["query"] = Frame([(1, 2)])
    assert "1   2" in run("query", "SELECT o.id, c.id FROM o JOIN c").out
    refused = run("query", "SELECT o.id, c.id FROM o JOIN c", "--json")
    assert refused.code == 2 and "Two columns are called id" in refused.json["error"]["message"]


def test_lineage(run: Run, engine: type[StandIn]) -> None:
    engine.answers["lineage"] = {"gold.big": ("gold.sales",), "gold.sales": ("shop.orders", "shop.customers")}
    lines = run("lineage").out.splitlines()
    assert lines[0] == "gold.big" and lines[1].endswith(" gold.sales") and lines[-1].endswith(" shop.customers")
    assert run("lineage", "--json").json["gold.big"] == ["gold.sales"]


def test_lineage_of_a_view_that_is_named_otherwise(run: Run, engine: type[StandIn]) -> None:
    engine.answers["lineage"] = {"gold.big": ("gold.sales",), "gold.sales": ("shop.orders",)}
    assert [line.split()[-1] for line in run("lineage", "Gold.BIG").out.splitlines()] == [
        "gold.big",
        "gold.sales",
        "shop.orders",
    ]


def test_lineage_of_columns(run: Run, engine: type[StandIn]) -> None:
    origins = (Origin("shop.orders", "amount", Effect.AGGREGATION), Origin("shop.orders", "paid", Effect.CONDITIONAL))
    rows = (Origin("shop.orders", "country", Effect.GROUP_BY), Origin("shop.orders", "country", Effect.JOIN))
    engine.answers["column_lineage"] = {"gold.sales": ColumnLineage({"revenue": origins, "orders": ()}, rows)}
    lines = [line.split() for line in run("lineage", "gold.sales", "--columns").out.splitlines()]
    assert lines == [
        ["gold.sales"],
        ["column", "comes", "from", "by"],
        ["revenue", "shop.orders.amount", "aggregation"],
        ["shop.orders.paid", "conditional"],
        ["orders"],
        ["(rows)", "shop.orders.country", "group", "by,", "join"],
    ]
    found = run("lineage", "gold.sales", "--columns", "--json").json["gold.sales"]
    assert found["columns"]["orders"] == [] and list(found["columns"]) == ["revenue", "orders"]
    assert found["rows"][0] == {"table": "shop.orders", "column": "country", "effect": "group_by"}
    assert next(call for call in engine.calls if call[0] == "column_lineage")[1] == (["gold.sales"],)


def test_explain_takes_a_view_a_file_or_stdin(run: Run, engine: type[StandIn], folder: Path) -> None:
    engine.answers["explain"] = EXPLANATION
    Path("view.sql").write_text("CREATE …", encoding="utf-8")
    assert "Delta plan\nChanges shop.orders" in run("explain", "view.sql").out
    assert run("explain", "gold.sales", "--sql").out == "-- changes\nSELECT 1 AS [a];\n"
    assert run("explain", "gold.sales", "--delta").out == "Changes shop.orders\n"
    assert [arguments[0] for _, arguments, _ in engine.calls] == ["CREATE …", "gold.sales", "gold.sales"]
    assert run("explain", "gold.sales", "--json").json["operators"][0]["strategy"] == "incremental"
    Path("binary.sql").write_bytes(b"\xff\xfe\x00")
    for missing in ("nowhere.sql", "binary.sql", "no/such.sql"):
        result = run("explain", missing)
        assert result.code == 2 and missing in result.paragraph


def test_explain_tells_the_cost_of_the_next_batch(run: Run, engine: type[StandIn]) -> None:
    past = (Foretold(4, "full", 90, 3.0, None), Foretold(3, "incremental", 120, 0.75, 0.5))
    engine.answers["forecast"] = Forecast(
        "gold.sales", "incremental", "linear", "", {"shop.orders": 1200}, 0.5, None, past
    )
    shown = run("explain", "gold.sales", "--cost").out
    assert "gold.sales: next batch incremental (linear)" in shown
    assert "changed rows: 1,200 of shop.orders; predicted: incremental 0.50 s, full refresh not measured yet" in shown
    assert [line.split() for line in shown.splitlines() if "incremental  " in line][-1][-5:] == [
        "120",
        "0.50",
        "s",
        "0.75",
        "s",
    ]
    answer = run("explain", "gold.sales", "--cost", "--json").json
    assert answer["past"][1] == {
        "number": 3,
        "strategy": "incremental",
        "changed_rows": 120,
        "seconds": 0.75,
        "predicted_seconds": 0.5,
    }


def test_drop(run: Run, engine: type[StandIn]) -> None:
    engine.answers["drop"] = None
    assert run("drop", "gold.sales", "--json").json == {"dropped": "gold.sales"}


def test_doctor(run: Run, engine: type[StandIn]) -> None:
    engine.answers["doctor"] = [Check("java", True, "17"), Check("cdf", False, "off", "ALTER TABLE …")]
    result = run("doctor")
    assert result.code == 9 and "ALTER TABLE …" in result.out
    engine.answers["doctor"] = [Check("java", True, "17")]
    assert run("doctor", "--json").json[0]["ok"] is True


def test_plan_and_apply(run: Run, engine: type[StandIn], folder: Path) -> None:
    changes = [PlannedChange("view", "gold.sales", "create"), PlannedChange("view", "gold.old", "unchanged")]
    engine.answers |= {"plan": changes, "apply": changes, "explain": EXPLANATION}
    shown = run("plan").out
    assert "create" in shown and "gold.old" not in shown
    assert len(run("apply", "--json").json) == 2

    views = folder / "sql" / "shop" / "views"
    views.mkdir(parents=True)
    (views / "sales.sql").write_text("CREATE …", encoding="utf-8")
    assert "1 jobs written to out" in run("plan", "--out", "out").out
    assert json.loads(Path("out/gold.sales.json").read_text()) == {"view": "gold.sales"}
    assert Path("out/gold.sales.sql").read_text() == "-- changes\nSELECT 1 AS [a];\n"
    engine.answers["explain"] = DefinitionError("There is no column x.", line=3, column=7)
    refused = run("plan", "--out", "out")
    assert (refused.code, refused.paragraph) == (2, "sales.sql: There is no column x. (line 3, column 7)")
    engine.answers["explain"] = UnknownTableError("There is no table or view gold.upstream.")
    assert (
        "Left out until `ivm apply` has made the tables and views that they read: sales.sql"
        in run("plan", "--out", "out").out
    )


def test_job_files_stay_in_their_folder(run: Run, engine: type[StandIn], folder: Path) -> None:
    views = folder / "sql" / "shop" / "views"
    views.mkdir(parents=True)
    (views / "v.sql").write_text("CREATE …", encoding="utf-8")
    engine.answers |= {"plan": [], "explain": replace(EXPLANATION, view="gold.../../../etc/x y 😀")}
    assert run("plan", "--out", "out").code == 0
    assert sorted(path.parent for path in folder.rglob("*.json")) == [folder / "out"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnknownViewError("There is no view gold.nope. Known: gold.sales."), 4),
        (DefinitionError("Broken [/red] SQL", construct="LIMIT", line=3, column=7), 2),
        (RuntimeError("connection to postgresql://ivm:s3cret@db/ivm failed\nmore lines\nmore"), 1),
    ],
)
def test_errors_are_one_paragraph_and_a_code(run: Run, engine: type[StandIn], error: Exception, code: int) -> None:
    engine.answers["status"] = error
    result = run("status")
    assert result.code == code and not result.out
    assert "s3cret" not in result.paragraph
    described = run("status", "--json")
    assert described.code == code and not described.err
    assert described.json["error"]["message"] and "s3cret" not in described.out
    if isinstance(error, DefinitionError):
        assert described.json["error"] == {
            "code": "DEFINITION", "message": error.message, "construct": "LIMIT", "line": 3, "column": 7,
        }  # fmt: skip
        assert "[/red]" in result.paragraph


def test_debug_shows_the_traceback(run: Run, engine: type[StandIn], monkeypatch: pytest.MonkeyPatch) -> None:
    engine.answers["status"] = UnknownViewError("There is no view gold.nope.")
    monkeypatch.setenv("IVM_DEBUG", "1")
    with pytest.raises(UnknownViewError):
        run("status")


def test_interruption(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ivm_core.cli.project.write_project", interrupt)
    result = run("init", "x")
    assert result.code == 130 and result.paragraph.startswith("Interrupted.")


@pytest.mark.parametrize(
    "arguments",
    [
        ("nosuch",),
        ("maintain", "--nosuch"),
        ("history",),
        ("maintain", "--as-of", "yesterday"),
        ("maintain", "--as-of", "0001-01-01T00:00+14:00"),
        ("maintain", "--as-of", "9999-01-01T00:00Z"),
        ("maintain", "--policy", "sometimes"),
        ("maintain", "--mode", "sometimes"),
        ("maintain", "--mode", "rewind"),
        ("maintain", "--mode", "full", "--policy", "incremental"),
        ("maintain", "gold.sales", "--group", "hourly"),
        ("refresh",),
        ("query", "v", "--limit", "0"),
    ],
)
def test_wrong_usage(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    command = "" if arguments == ("nosuch",) else f"{arguments[0]} "
    assert result.code == 64 and f"See `ivm {command}--help`." in result.paragraph
    assert run(*arguments, "--json").json["error"]["code"] == "USAGE"


def test_exit_codes_are_those_of_the_documentation(run: Run) -> None:
    documented = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    kinds = [IvmError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        assert f"| {kind.exit_code} |" in documented, kind
        assert f"`{kind.code}`" in documented, kind
    help_text = " ".join(run("--help").out.split())
    assert "Exit codes: 0 done" in help_text
    for command in ("init", "plan", "apply", "explain", "maintain", "refresh", "validate", "status", "history", "query",
                    "lineage", "drop", "doctor", "demo", "trigger"):  # fmt: skip
        assert f"`ivm {command}" in documented
        shown = run(command, "--help")
        assert shown.code == 0 and "--json" in shown.out, command
