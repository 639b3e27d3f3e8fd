"""What ``ivm.on_drift`` does about a view that differs from its query."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from ivm_airflow import tasks
from ivm_airflow.failures import Permanent

from ivm_core.engine import quality
from ivm_core.validate.model import ValidationReport


class FakeEngine:
    """One view that differs until it is refreshed."""

    spark = None

    def __init__(self, answer: str, curable: bool = True) -> None:
        self.view = SimpleNamespace(name="gold.a", properties=(("ivm.on_drift", answer),))
        self.catalog = SimpleNamespace(views=lambda group: [self.view])
        self.right, self.curable, self.refreshed = False, curable, []

    def validate(self, view, measure_full=False, run_id=None):
        return ValidationReport(view, self.right, missing_count=0 if self.right else 1)

    def refresh(self, view):
        self.refreshed.append(view)
        self.right = self.curable


@pytest.fixture
def run(monkeypatch, tmp_path):
    def run_with(engine):
        pushed = {}
        ti = SimpleNamespace(
            task=SimpleNamespace(outlets=[]),
            xcom_pull=lambda task_ids, key=None: {"validate": ["gold.a"]} if task_ids == "cut" else [],
            xcom_push=lambda key, value: pushed.update({key: value}),
        )

        @contextmanager
        def opened():
            yield engine

        monkeypatch.setattr(tasks, "opened_engine", opened)
        monkeypatch.setattr(tasks, "reports_folder", lambda: tmp_path)
        monkeypatch.setattr(quality, "publish", lambda *_: SimpleNamespace(docs_index="index.html"))
        try:
            tasks.validate("gold", ti=ti, params={}, run_id="manual")
        finally:
            engine.checks = pushed["checks"]

    return run_with


def test_repair_refreshes_and_checks_again(run):
    engine = FakeEngine("repair")
    run(engine)
    assert engine.refreshed == ["gold.a"]
    [check] = engine.checks
    assert (check["ok"], check["repaired"]) == (True, True)


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
    assert engine.refreshed == [] and engine.checks[0]["ok"] is False
