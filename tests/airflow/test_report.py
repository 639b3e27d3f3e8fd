"""Reports: what is written, under which name, and that nothing in it is taken for markup or for a path."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest
from ivm_airflow.failures import Concurrent, PartlyFailed, Permanent, failure_of
from ivm_airflow.packing import pack_check, pack_cut, pack_report, unpack_cut
from ivm_airflow.page import render_page
from ivm_airflow.report import build_report, summary, write_report
from ivm_airflow.schedule import is_due
from ivm_airflow.slug import dag_id, slug

from ivm_core.apply.model import MaintenanceReport
from ivm_core.batch.model import Cut, TableVersion
from ivm_core.catalog.model import ValidationRecord
from ivm_core.cost.model import Reason, Strategy
from ivm_core.validate.model import DifferingRow, ValidationReport

RUN = {
    "run_id": "manual__2026-11-21T10:00:00+00:00",
    "group": "hourly",
    "mode": "auto",
    "reason": "<script>alert('why')</script>",
    "as_of": "2026-11-21T10:00:00+00:00",
    "versions": {"shop.orders": 4},
    "written_at": "2026-11-21T10:01:00+00:00",
}
DONE = MaintenanceReport(
    "gold.a",
    Strategy.INCREMENTAL,
    Reason.LINEAR,
    {"shop.orders": 3},
    {"shop.orders": 4},
    rows_changed=1200,
    seconds=1.5,
    shared_seconds=0.25,
)
FAILED = MaintenanceReport(
    "gold.b", Strategy.NOOP, Reason.LINEAR, error="<img src=x onerror=alert(1)> is gone", error_code="BASE_TABLE"
)
GOOD = ValidationReport("gold.a", True, rows=10, seconds=0.5, full_seconds=9.0)
BAD = ValidationReport("gold.a", False, missing=(DifferingRow({"x": 1}, 2),), missing_count=2, rows=10)


def report_of(maintained, checks, tolerated=False):
    return build_report(RUN, map(pack_report, maintained), [pack_check(check, tolerated) for check in checks])


def test_one_entry_a_view_with_both_findings():
    report = report_of([DONE], [GOOD])
    assert report["ok"] and report["failed"] == report["drifted"] == []
    [view] = report["views"]
    assert (view["strategy"], view["reason"], view["rows_changed"]) == ("incremental", "linear", 1200)
    assert (view["validated"], view["full_seconds"], view["rows"]) == (True, 9.0, 10)
    assert (view["seconds"], view["shared_seconds"]) == (1.5, 0.25)
    assert summary(report)["strategies"] == {"incremental": 1}


def test_failures_and_differences_are_not_hidden():
    report = report_of([DONE, FAILED], [BAD])
    assert not report["ok"]
    assert (report["failed"], report["drifted"]) == (["gold.b"], ["gold.a"])
    tolerated = report_of([DONE], [BAD], tolerated=True)
    assert tolerated["ok"] and tolerated["views"][0]["validated"] is False


def test_a_task_that_broke_off_is_not_success():
    report = build_report(RUN, [], [], unfinished=["maintain"])
    assert not report["ok"] and summary(report)["ok"] is False
    assert "Broke off: maintain" in render_page(report)


def test_the_page_names_each_view_that_was_not_compared_once():
    why = {"gold.a": "The rows of gold.a are of Berlin <b>.", "gold.b": "Versions are gone."}
    report = build_report(RUN, [], [], uncompared=why)
    page = render_page(report)
    assert not report["ok"] and "Not compared: The rows of gold.a are of Berlin &lt;b&gt;." in page
    assert "Not compared: gold.b. Versions are gone." in page


def test_a_view_that_was_only_validated_has_an_entry():
    [view] = report_of([], [GOOD])["views"]
    assert (view["view"], view["strategy"], view["validated"]) == ("gold.a", "noop", True)


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.addresses = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in {"src", "href"}]


def test_the_page_stands_alone_and_shows_text_as_text():
    page = Elements()
    page.feed(render_page(report_of([DONE, FAILED], [BAD])))
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert page.addresses == []


def test_files_are_written_where_they_belong(tmp_path):
    folder = tmp_path / "reports"
    data, page = write_report({**report_of([DONE], [GOOD]), "run_id": "../../../outside"}, folder)
    assert data.parent == page.parent == folder
    assert json.loads(data.read_text("utf-8"))["run_id"] == "../../../outside"
    write_report({**report_of([DONE], [GOOD]), "run_id": "../../../outside"}, folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted([data.name, page.name])


@pytest.mark.parametrize("name", ["", "..", "/", "a/b", "é", "\udcff", "x" * 5000, "a\nb", "CON", "a" * 80])
def test_slugs_are_file_names(name):
    assert set(slug(name)) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")
    assert 0 < len(slug(name)) < 100
    assert slug(name) != slug(f"{name} ")
    assert dag_id(name).startswith("ivm_") and len(dag_id(name)) < 200


def test_a_cut_survives_the_way_between_tasks():
    cut = Cut((TableVersion("shop.orders", "5c8f", 4),), datetime(2026, 11, 21, 10, tzinfo=UTC))
    assert unpack_cut(json.loads(json.dumps(pack_cut(cut)))) == cut
    assert unpack_cut(pack_cut(Cut(()))) == Cut(())


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((), type(None)),
        (("CONCURRENT_COMMIT",), Concurrent),
        (("DEFINITION", "UPSTREAM_FAILED"), Permanent),
        (("SCHEMA_CHANGED", "CONCURRENT_COMMIT"), PartlyFailed),
        (("BASE_TABLE",), PartlyFailed),
        ((None,), PartlyFailed),
    ],
)
def test_only_what_can_pass_is_tried_again(codes, expected):
    reports = [pack_report(DONE)]
    reports += [{**pack_report(FAILED), "view": str(code), "error_code": code} for code in codes]
    assert type(failure_of(reports)) is expected


def test_when_a_validation_is_due():
    now = datetime(2026, 11, 21, 10, tzinfo=UTC)

    def checked(seconds_ago, ok=True):
        return ValidationRecord("gold.a", 1, ok, 0, 0, 5, {}, 0.1, now - timedelta(seconds=seconds_ago))

    assert is_due(None, 60, now)
    assert is_due(checked(60), 60, now)
    assert not is_due(checked(59), 60, now)
    assert is_due(checked(1, ok=False), 60, now)  # the run fails until the view is right again
    assert not is_due(checked(1, ok=False), 60, now, tolerant=True)
