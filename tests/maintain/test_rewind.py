"""Going back in time: views show again what they showed then, and replay to where their tables stand."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from ivm_core.engine import restore
from ivm_core.errors import NotIncrementalError
from tests.bags import difference
from tests.maintain.test_identities import FIRST, QUERIES, SECOND, Deployment
from tests.maintain.test_views_over_views import THIRD

pytestmark = pytest.mark.spark

ABOVE = {
    "per_name": "SELECT name, count(*) AS n FROM {s}.rows GROUP BY name",
    "per_count": "SELECT n, count(*) AS names FROM {s}.per_name GROUP BY n",
}


def instant() -> datetime:
    """A moment that lies strictly between the commits before and after it."""
    time.sleep(0.02)
    now = datetime.now(UTC)
    time.sleep(0.02)
    return now


class Story:
    """A deployment that was maintained after each of three changes, the moments between, and what views showed then."""

    def __init__(self, spark, folder, schema: str, queries: dict[str, str]) -> None:
        self.deployment = Deployment(spark, folder, schema, queries)
        self.engine, self.schema, self.queries = self.deployment.engine, schema, queries
        self.moments, self.shown = [], []
        for changes in ((), FIRST, SECOND, THIRD):
            self.deployment.run(*changes)
            self.engine.maintain()
            self.moments.append(instant())
            self.shown.append(self.contents())

    def contents(self) -> dict[str, list[str]]:
        return {name: sorted(map(str, self.engine.read(f"{self.schema}.{name}").collect())) for name in self.queries}

    def rewind(self, to: int, until: int, names: list[str] | None = None, **more):
        cut = self.engine.cut(names, as_of=self.moments[until])
        return self.engine.maintain(names, mode="rewind", as_of=self.moments[to], cut=cut, **more)


@pytest.fixture(scope="module")
def story(spark, tmp_path_factory):
    return Story(spark, tmp_path_factory.mktemp("rewound"), "rewound", QUERIES | ABOVE)


def test_views_go_back_and_replay_step_by_step(story):
    for step in (1, 2, 3):
        # As a backfill does over three intervals: the first goes back, the others find the views there.
        reports = story.rewind(to=step - 1, until=step)
        assert story.contents() == story.shown[step]
        assert {report.strategy for report in reports} <= {"incremental", "affected", "noop", "rewind"}
    went_back = [record for record in story.engine.history("rewound.totals") if record.strategy == "rewind"]
    assert [record.reason for record in went_back] == ["rewound"]
    assert story.deployment.changed() == set()


def test_a_run_goes_back_once(story):
    story.rewind(to=1, until=1, run_id="once")
    assert story.contents() == story.shown[1]
    story.engine.maintain()
    assert story.contents() == story.shown[3]
    assert {report.strategy for report in story.rewind(to=1, until=1, run_id="once")} == {"noop"}
    assert story.contents() == story.shown[3]


def test_one_view_goes_back_and_those_above_follow_it(story):
    story.engine.maintain()
    story.engine.maintain(
        ["rewound.rows"], mode="rewind", as_of=story.moments[0], cut=story.engine.cut(as_of=story.moments[0])
    )
    assert story.contents()["rows"] == story.shown[0]["rows"]
    assert story.contents()["per_name"] == story.shown[3]["per_name"]
    (report,) = story.engine.maintain(["rewound.per_name"])
    assert report.strategy == "incremental" and story.contents()["per_name"] == story.shown[0]["per_name"]
    story.engine.maintain()
    assert story.contents() == story.shown[3]


def test_a_state_that_was_written_by_hand_is_right_again(story):
    story.engine.maintain()
    location = story.engine.catalog.view("rewound.distinct_g").location
    story.deployment.spark.sql(f"DELETE FROM delta.`{location}`").collect()
    (report,) = story.engine.maintain(
        ["rewound.distinct_g"], mode="rewind", as_of=instant(), policy="incremental_strict"
    )
    assert report.strategy == "rewind" and "went back to batch" in report.detail
    assert story.contents() == story.shown[3]


def test_spark_writes_what_only_spark_can(story, monkeypatch):
    monkeypatch.setattr(restore, "open_state", lambda location: None)
    names = ["rows", "totals"]
    story.rewind(1, 2, [f"rewound.{name}" for name in names])
    shown = story.contents()
    assert all(shown[name] == story.shown[2][name] for name in names)
    story.engine.maintain()
    assert story.contents() == story.shown[3]


def test_before_the_first_batch_a_view_is_computed_anew(story):
    names = ["rewound.rows", "rewound.totals"]
    before = story.moments[0] - timedelta(days=1)
    with pytest.raises(NotIncrementalError, match="no batch at or before"):
        story.engine.maintain(names[1:], mode="rewind", as_of=before, policy="incremental_strict")
    assert story.contents() == story.shown[3]
    reports = story.engine.maintain(names, mode="rewind", as_of=before, cut=story.engine.cut(as_of=story.moments[1]))
    assert {(report.strategy, report.reason) for report in reports} == {("full", "history_gone")}
    assert all("no batch at or before" in report.detail for report in reports)
    assert story.contents()["totals"] == story.shown[1]["totals"]
    story.engine.maintain()
    assert story.contents() == story.shown[3]
    story.deployment.check()


def test_a_table_past_its_retention_cannot_bring_a_view_back(story, spark):
    name = "rewound.counted"
    location = story.engine.catalog.view(name).location
    spark.sql(
        f"ALTER TABLE delta.`{location}` SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 days', "
        "'delta.logRetentionDuration' = 'interval 0 days')"
    ).collect()
    (report,) = story.engine.maintain([name], mode="rewind", as_of=story.moments[1])
    assert (report.strategy, report.reason) == ("full", "history_gone")
    assert "the oldest that can be read" in report.detail
    assert not difference(story.engine.read(name), spark.sql(story.deployment.queries["counted"]))


def test_time_goes_back_too(spark, tmp_path):
    deployment = Deployment(spark, tmp_path, "clocked", {"seen": "SELECT id, now() AS at FROM {s}.f"})
    then = instant()
    deployment.run(*FIRST)
    deployment.engine.maintain()
    until = deployment.engine.cut(as_of=instant())
    deployment.engine.maintain()
    (report,) = deployment.engine.maintain(mode="rewind", as_of=then, cut=until)
    assert report.strategy != "full" and "went back to batch 1" in report.detail
    assert deployment.engine.validate("clocked.seen").ok
    shown = {
        row.at for row in deployment.engine.spark.sql("SELECT CAST(at AS DOUBLE) AS at FROM clocked.seen").collect()
    }
    assert until.as_of is not None and shown == {until.as_of.timestamp()}
