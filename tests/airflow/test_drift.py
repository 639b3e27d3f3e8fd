"""What ``ivm.on_drift`` does about a view that differs from its query."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from ivm_airflow import deployment, tasks
from ivm_airflow.failures import Permanent

from ivm_core.apply.model import MaintenanceReport
from ivm_core.cost.model import Reason, Strategy
from ivm_core.engine import quality
from ivm_core.errors import HistoryGone
from ivm_core.validate.model import BrokenExpectation, ValidationReport
from tests.catalog.records import done


class FakeEvents(dict):
    """The events by asset; an asset of the tests is known by its name."""

    def __getitem__(self, asset):
        return self.setdefault(getattr(asset, "name", asset), SimpleNamespace())


class FakeEngine:
    """One view that differs until it is repaired."""

    spark = None

    def __init__(self, answer: str, curable: bool = True, maintained=(), due=("gold.a",)) -> None:
        self.maintained, self.due = list(maintained), list(due)
        self.view = SimpleNamespace(name="gold.a", properties=(("ivm.on_drift", answer),))
        self.catalog = SimpleNamespace(views=lambda group: [self.view])
        self.broken = ()
        self.right, self.curable, self.repaired, self.published = False, curable, [], []
        self.incomparable = set()
        self.batches, self.left, self.fails_to_publish = [], {}, False

    def validate(self, view, measure_full=False, run_id=None):
        if view in self.incomparable:
            raise HistoryGone(f"{view}'s versions are gone.")
        return ValidationReport(view, self.right, missing_count=0 if self.right else 1)

    def history(self, view, limit):
        return self.batches

    def repair(self, view, run_id=None):
        self.repaired.append(view)
        self.right = self.curable
        return MaintenanceReport(view, Strategy.REPAIR, Reason.REPAIRED, {"t": 3}, {"t": 3}, 2, batch=7)


@pytest.fixture
def run(monkeypatch, tmp_path):
    def run_with(engine):
        pushed = {}
        asset = SimpleNamespace(name="gold.a")
        engine.events = FakeEvents()
        ti = SimpleNamespace(
            task=SimpleNamespace(outlets=[asset]),
            xcom_pull=lambda task_ids, key=None: (
                {"validate": engine.due, "as_of": None, "versions": []} if task_ids == "cut" else engine.maintained
            ),
            xcom_push=lambda key, value: pushed.update({key: value}),
        )

        @contextmanager
        def opened(placed=None):
            yield engine

        monkeypatch.setattr(tasks, "opened_engine", opened)
        monkeypatch.setattr(tasks, "reports_folder", lambda: tmp_path)
        monkeypatch.setattr(deployment, "reports_folder", lambda: tmp_path)

        def publish(checks, *_):
            if engine.fails_to_publish:
                raise OSError("No space left on device")
            engine.published.extend(checks)
            return SimpleNamespace(docs_index="index.html", broken=engine.broken)

        monkeypatch.setattr(quality, "publish", publish)
        try:
            tasks.validate("gold", ti=ti, params={}, run_id="manual", outlet_events=engine.events)
        finally:
            engine.checks, engine.left = pushed["checks"], pushed

    return run_with


def test_repair_mends_checks_again_and_tells_of_the_view(run):
    engine = FakeEngine("repair")
    run(engine)
    assert engine.repaired == ["gold.a"]
    [check] = engine.checks
    assert (check["ok"], check["repaired"], check["repair"]) == (True, True, "repair, 2 rows.")
    assert engine.events["gold.a"].extra["batch"] == 7


def test_a_repair_that_does_not_help_fails(run):
    with pytest.raises(Permanent, match=r"gold\.a"):
        run(FakeEngine("repair", curable=False))


@pytest.mark.parametrize(("answer", "fails"), [("fail", True), ("warn", False)])
def test_the_other_answers_leave_the_view_alone(run, answer, fails):
    engine = FakeEngine(answer)
    if fails:
        with pytest.raises(Permanent):
            run(engine)
    else:
        run(engine)
    assert engine.repaired == [] and engine.checks[0]["ok"] is False


@pytest.mark.parametrize(
    ("answer", "severity", "fails"),
    [("fail", "critical", True), ("repair", "critical", True), ("warn", "critical", False), ("fail", "warning", False)],
)
def test_an_expectation_that_does_not_hold(run, answer, severity, fails):
    engine = FakeEngine(answer)
    engine.right = True
    engine.broken = (BrokenExpectation("gold.a", "expect_column_values_to_be_unique", ("k",), severity, "2 of 9 rows"),)
    if fails:
        with pytest.raises(Permanent, match=r"gold\.a do not meet"):
            run(engine)
    else:
        run(engine)
    [check] = engine.checks
    assert engine.repaired == [] and check["broken"][0]["columns"] == ["k"]


def failed(code):
    return [{"view": "gold.a", "strategy": "noop", "error": "It does not fit.", "error_code": code}]


@pytest.mark.parametrize("right", [False, True], ids=["seen", "in_hidden_columns"])
@pytest.mark.parametrize("due", [(), ("gold.a",)], ids=["not_due", "due"])
def test_a_difference_that_a_batch_met_is_repaired(run, due, right):
    engine = FakeEngine("repair", maintained=failed("DRIFT"), due=due)
    engine.right = right
    run(engine)
    assert engine.repaired == ["gold.a"]
    [check] = engine.checks
    assert check["ok"] and check["repaired"]


@pytest.mark.parametrize(("answer", "code"), [("fail", "DRIFT"), ("warn", "DRIFT"), ("repair", "CONCURRENT_COMMIT")])
def test_other_failures_are_not_compared(run, answer, code):
    engine = FakeEngine(answer, maintained=failed(code))
    run(engine)
    assert engine.repaired == engine.checks == [] and not engine.published


@pytest.mark.parametrize("other", [("gold.a",), ()], ids=["one of two", "all"])
def test_a_view_that_cannot_be_compared_stops_no_others_comparison(run, other):
    engine = FakeEngine("repair", due=("gold.b", *other))
    engine.incomparable.add("gold.b")
    with pytest.raises(
        Permanent, match=rf"1 of {1 + len(other)} views were not compared\. gold\.b: gold\.b's versions are gone"
    ):
        run(engine)
    assert engine.repaired == [*other]
    assert [check["view"] for check in engine.checks] == [*other]


def reported(engine):
    """What the task after it makes of what ``validate`` left."""
    left = {
        ("cut", None): {"as_of": None, "versions": [], "validate": engine.due},
        ("maintain", "reports"): engine.maintained,
        **{("validate", key): value for key, value in engine.left.items()},
    }
    pushed = {}
    ti = SimpleNamespace(
        xcom_pull=lambda task_ids, key=None: left.get((task_ids, key)),
        xcom_push=lambda key, value: pushed.update({key: value}),
    )
    return tasks.report("gold", ti=ti, params={"views": ["GOLD.a"]}, run_id="manual")


@pytest.mark.parametrize("other", [("gold.a",), ()], ids=["one of two", "all"])
def test_a_view_that_cannot_be_compared_fails_its_run(run, other):
    engine = FakeEngine("repair", due=("gold.b", *other))
    engine.incomparable.add("gold.b")
    with pytest.raises(Permanent):
        run(engine)
    with pytest.raises(Permanent, match=r"^uncompared: gold\.b\. See"):
        reported(engine)


def test_a_validation_that_broke_off_after_its_first_findings_fails_its_run(run):
    engine = FakeEngine("fail")
    engine.right = engine.fails_to_publish = True
    with pytest.raises(OSError, match="No space"):
        run(engine)
    with pytest.raises(Permanent, match=r"^unfinished: validate\. See"):
        reported(engine)
    engine.fails_to_publish = False
    run(engine)
    assert reported(engine)["ok"]


def test_a_report_is_written_without_the_catalogue(run, monkeypatch):
    engine = FakeEngine("fail")
    engine.right = True
    run(engine)

    def away(placed=None):
        raise OSError("connection refused")

    monkeypatch.setattr(tasks, "opened_engine", away)
    assert reported(engine)["ok"]


@pytest.mark.parametrize("met", [True, False], ids=["met by a batch", "found"])
def test_what_an_earlier_try_repaired_is_told_of_and_not_repaired_again(run, met):
    engine = FakeEngine("repair", maintained=failed("DRIFT") if met else ())
    engine.right = True
    engine.batches = [done("gold.a", 7, strategy="repair", reason="repaired", run_id="manual", rows_changed=2)]
    run(engine)
    [check] = engine.checks
    assert engine.repaired == [] and (check["ok"], check["repaired"], check["repair"]) == (
        True,
        True,
        "repair, 2 rows.",
    )
    assert engine.events["gold.a"].extra["batch"] == 7
