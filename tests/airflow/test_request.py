"""A run's parameters are untrusted: what is not on the list is refused, and what passes is a value of a known kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from ivm_airflow.failures import Permanent
from ivm_airflow.request import RunRequest, check_heard, moves_when_cleared, parse_request, rewind_to, target

ALLOWED = ("gold.orders", "gold.lines")
DEFAULTS = {"views": None, "mode": "auto", "as_of": None, "measure_full": False, "reason": ""}


def test_defaults_mean_the_whole_group():
    assert parse_request(DEFAULTS, ALLOWED) == RunRequest()
    assert parse_request({}, ALLOWED) == RunRequest()
    assert parse_request({**DEFAULTS, "views": []}, ALLOWED).views is None


def test_what_openlineage_s_provider_puts_in_is_no_question_to_us():
    parent = {"openlineage": {"parentRunId": "0193", "rootParentRunId": "0192"}}  # of TriggerDagRunOperator
    assert parse_request({**DEFAULTS, "_selective_enable_ol": True, **parent}, ALLOWED) == RunRequest()


def test_what_airflow_takes_for_its_traces_is_no_question_to_us():
    assert parse_request({**DEFAULTS, "airflow/task_span_detail_level": 2}, ALLOWED) == RunRequest()


def test_what_is_asked_for():
    asked = {
        "views": ["GOLD.orders", "gold.orders"],
        "mode": "full",
        "as_of": "2026-11-21T10:00:00+02:00",
        "measure_full": True,
        "reason": "price list was wrong",
    }
    request = parse_request(asked, ALLOWED)
    assert request.views == ("gold.orders",)
    assert request.policy == "full" and request.forced
    assert request.as_of == datetime(2026, 11, 21, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "conf",
    [
        {"views": ["gold.orders; DROP TABLE gold.orders"]},
        {"views": ["gold.orders' OR '1'='1"]},
        {"views": ["../../etc/passwd"]},
        {"views": ["gold.orders`"]},
        {"views": ["$(rm -rf ~)"]},
        {"views": ["{{ conn.spark_default.password }}"]},
        {"views": ["gold.orders\x00"]},
        {"views": ["ｇold.orders"]},
        {"views": ["silver.other_group"]},
        {"views": "gold.orders"},
        {"views": {"gold.orders": 1}},
        {"views": [["gold.orders"]]},
        {"views": [None]},
        {"mode": "full; DROP"},
        {"mode": ["full"]},
        {"mode": {"full": 1}},
        {"as_of": "yesterday"},
        {"as_of": "2026-13-01"},
        {"as_of": "2026-11-21' OR 1=1"},
        {"as_of": "0001-01-01T00:00:00+14:00"},
        {"as_of": "9999-12-31T23:00:00-14:00"},
        {"as_of": "2999-01-01T00:00:00+00:00"},
        {"as_of": 5},
        {"as_of": ["2026-11-21"]},
        {"measure_full": "true"},
        {"measure_full": 1},
        {"reason": "x" * 501},
        {"reason": 5},
        {"reason": "half of a letter: \ud83d"},
        {"reason": "nothing\x00"},
        {"policy": "full"},
        {"veiws": ["gold.orders"]},
        {"__proto__": {}},
    ],
    ids=str,
)
def test_what_is_refused(conf):
    with pytest.raises(Permanent):
        parse_request({**DEFAULTS, **conf}, ALLOWED)


@pytest.mark.parametrize(
    ("run_type", "conf", "moves"),
    [
        ("asset_triggered", {}, True),
        ("asset_triggered", {"as_of": "2026-11-21T10:00:00Z"}, False),
        ("scheduled", {}, False),
        ("manual", {}, False),
    ],
)
def test_what_a_cleared_run_goes_on_to(run_type, conf, moves):
    """Airflow forgets when a cleared run began: one that assets started ends at where the tables stand by then."""
    assert moves_when_cleared(parse_request(conf, ALLOWED), {"dag_run": run(run_type)}) == moves


def test_clocks_may_differ_a_little():
    soon = datetime.now(UTC) + timedelta(seconds=20)
    assert parse_request({"as_of": soon.isoformat()}, ALLOWED).as_of == soon


def run(run_type, run_after=datetime(2026, 11, 21, 10, 30, tzinfo=UTC), start_date=None):
    return SimpleNamespace(run_type=run_type, run_after=run_after, start_date=start_date)


END = datetime(2026, 11, 21, 10, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 10, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"dag_run": run("scheduled"), "data_interval_end": END}, END),
        ({"dag_run": run("backfill"), "data_interval_end": END}, END),
        ({"dag_run": run("manual"), "data_interval_end": END}, datetime(2026, 11, 21, 10, 30, tzinfo=UTC)),
        ({"dag_run": run("asset_triggered")}, datetime(2026, 11, 21, 10, 30, tzinfo=UTC)),
        ({"dag_run": run("asset_triggered", start_date=LATER)}, LATER),  # events came while another run went on
        ({"dag_run": run("asset_triggered", start_date=END)}, datetime(2026, 11, 21, 10, 30, tzinfo=UTC)),
        ({"dag_run": run("manual", start_date=LATER)}, datetime(2026, 11, 21, 10, 30, tzinfo=UTC)),
        ({"dag_run": run("scheduled", start_date=LATER), "data_interval_end": END}, END),
        ({"dag_run": run("manual", None)}, None),
        ({}, None),
    ],
)
def test_the_instant_that_a_run_means(context, expected):
    assert target(RunRequest(), context) == expected


def test_as_of_wins():
    as_of = datetime(2026, 1, 1, tzinfo=UTC)
    assert target(RunRequest(as_of=as_of), {"dag_run": run("scheduled"), "data_interval_end": END}) == as_of


START = datetime(2026, 11, 21, 9, tzinfo=UTC)


def test_a_rewind_goes_back_to_where_the_interval_begins_and_on_to_its_end():
    request = parse_request({"mode": "rewind"}, ALLOWED)
    context = {"dag_run": run("backfill"), "data_interval_start": START, "data_interval_end": END}
    assert (rewind_to(request, context), target(request, context)) == (START, END)
    assert request.forced and request.policy is None
    assert rewind_to(RunRequest(), context) is None


def test_a_rewind_goes_back_to_as_of_and_on_to_the_run_s_own_instant():
    request = parse_request({"mode": "rewind", "as_of": "2026-11-01"}, ALLOWED)
    context = {"dag_run": run("manual"), "data_interval_start": START}
    assert rewind_to(request, context) == datetime(2026, 11, 1, tzinfo=UTC)
    assert target(request, context) == datetime(2026, 11, 21, 10, 30, tzinfo=UTC)


def test_a_rewind_without_an_instant_is_refused():
    with pytest.raises(Permanent, match="needs `as_of`"):
        rewind_to(parse_request({"mode": "rewind"}, ALLOWED), {"dag_run": run("manual"), "data_interval_start": START})


@pytest.mark.parametrize(
    ("conf", "refused"), [(None, None), ({}, None), ({"mode": "auto"}, None), ({"mode": "full"}, "mode")]
)
def test_a_run_whose_parameters_airflow_ignores_does_nothing_else(conf, refused):
    context = {"params": DEFAULTS, "dag_run": SimpleNamespace(conf=conf)}
    if refused is None:
        check_heard(context)
        return
    with pytest.raises(Permanent, match=f"does not let a run set {refused}: .*dag_run_conf_overrides_params"):
        check_heard(context)
