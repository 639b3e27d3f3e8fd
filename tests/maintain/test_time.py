"""Views that tell the time: they follow the clock and their tables, together and apart, without a full refresh."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ivm_core import Engine
from ivm_core.batch.clock import instant_of, version_of
from ivm_core.batch.model import Batch, CommitClass, TableRange
from ivm_core.cost.model import Reason, Strategy
from ivm_core.errors import SettingsError
from ivm_core.maintain.group import make_cut, select_views
from ivm_core.plan.clock import CLOCK
from tests.bags import difference

pytestmark = pytest.mark.spark

DAYS = 12
# ``{now}`` and ``{today}`` stand for the time: a function in the view, a literal in the query that it is compared with.
VIEWS = {
    "last_days": ("SELECT id, day FROM clk.event WHERE day >= {today} - INTERVAL 3 DAYS", "incremental"),
    "between": ("SELECT id, day FROM clk.event WHERE day BETWEEN {today} - 2 AND {today} + 1", "incremental"),
    "age": ("SELECT id, datediff({today}, day) AS age FROM clk.event", "incremental"),
    "recent": ("SELECT id FROM clk.event WHERE at > {now} - INTERVAL 30 HOURS AND at <= {now}", "incremental"),
    "by_kind": (
        "SELECT kind, count(*) AS n, sum(amount) AS s, max(day) AS hi FROM clk.event WHERE day > {today} - 4 GROUP BY kind",
        "incremental",
    ),
    "by_age": ("SELECT datediff({today}, day) AS age, count(*) AS n FROM clk.event GROUP BY 1", "incremental"),
    "kinds": (
        "SELECT kind, count(DISTINCT amount) AS n FROM clk.event WHERE day > {today} - 4 GROUP BY kind",
        "affected",
    ),
    "ages": ("SELECT kind, sum(DISTINCT datediff({today}, day)) AS n FROM clk.event GROUP BY kind", "affected"),
    "joined": (
        "SELECT e.id, k.name FROM clk.event e JOIN clk.kind k ON e.kind = k.kind WHERE e.day < {today} - k.days",
        "incremental",
    ),
    "outer_joined": (
        "SELECT k.name, e.id FROM clk.kind k LEFT JOIN clk.event e ON e.kind = k.kind AND e.day >= {today} - 1",
        "affected",
    ),
    "silent": (
        "SELECT name FROM clk.kind k WHERE NOT EXISTS (SELECT 1 FROM clk.event e WHERE e.kind = k.kind AND e.day >= {today} - 2)",
        "affected",
    ),
    "ranked": (
        "SELECT id, row_number() OVER (PARTITION BY kind ORDER BY day, id) AS r FROM clk.event WHERE day > {today} - 5",
        "affected",
    ),
    "sum_of_ages": (
        "SELECT id, sum(datediff({today}, day)) OVER (PARTITION BY kind) AS s FROM clk.event",
        "affected",
    ),
    "idle": ("SELECT kind, max(day) AS last FROM clk.event GROUP BY kind HAVING max(day) < {today} - 3", "affected"),
    "since": (
        "WITH s AS (SELECT {today} - 3 AS since) SELECT e.id, s.since FROM clk.event e JOIN s ON e.day >= s.since",
        "incremental",
    ),
    "calendar": ("SELECT id, d FROM clk.event LATERAL VIEW explode(sequence(day, {today} + 30)) AS d", "incremental"),
    "stamp": ("SELECT {today} AS today, count(*) AS n FROM clk.event", "affected"),
    "case_of": ("SELECT id, CASE WHEN day < {today} THEN 'past' ELSE 'to come' END AS w FROM clk.event", "incremental"),
    "local": ("SELECT id FROM clk.event WHERE CAST(at AS TIMESTAMP_NTZ) < {local} - INTERVAL 1 DAY", "incremental"),
    "alone": ("SELECT {today} AS today, year({now}) AS y", "incremental"),
    "seconds": ("SELECT id FROM clk.event WHERE unix_seconds(at) < {seconds}", "incremental"),
}
FUNCTIONS = {"now": "now()", "today": "current_date()", "local": "localtimestamp()", "seconds": "unix_timestamp()"}


def at_instant(query: str, instant: datetime) -> str:
    """The query with the time written into it."""
    now = f"timestamp_micros({version_of(instant)})"
    local, seconds = f"CAST({now} AS TIMESTAMP_NTZ)", f"unix_timestamp({now})"
    return query.format(now=now, today=f"CAST({now} AS DATE)", local=local, seconds=seconds)


# With all views a step takes a minute: the others belong to the slow tests.
FEW = ("last_days", "age", "by_kind", "recent", "outer_joined", "sum_of_ages", "alone")


@pytest.fixture(
    scope="module", params=[pytest.param(FEW, id="few"), pytest.param(VIEWS, id="all", marks=pytest.mark.slow)]
)
def names(request):
    return tuple(request.param)


@pytest.fixture(scope="module")
def engine(spark, names, tmp_path_factory):
    folder = tmp_path_factory.mktemp("time")
    with Engine.open(spark=spark, catalog=f"sqlite:///{folder}/ivm.db", warehouse=folder / "warehouse") as opened:
        yield opened


@pytest.fixture(scope="module")
def start() -> datetime:
    """Noon, days after the views are made, so that no test meets a midnight that it does not expect."""
    return datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=2)


@pytest.fixture(scope="module")
def views(spark, engine, names, start):
    spark.sql("DROP SCHEMA IF EXISTS clk CASCADE")
    spark.sql("CREATE SCHEMA clk")
    feed = "USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    spark.sql(f"CREATE TABLE clk.event (id INT, kind STRING, day DATE, at TIMESTAMP, amount INT) {feed}")
    spark.sql(f"CREATE TABLE clk.kind (kind STRING, name STRING, days INT) {feed}")
    spark.sql("INSERT INTO clk.kind VALUES ('a', 'A', 1), ('b', 'B', 3), (NULL, 'none', 2), ('z', 'Z', 0)")
    insert_events(spark, start, 0, 40)
    for name in names:
        query, _ = VIEWS[name]
        strict = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental_strict')"
        engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW tv.{name} {strict} AS {query.format(**FUNCTIONS)}")
    return names


def insert_events(spark, around: datetime, first: int, count: int) -> None:
    rows = []
    for number in range(first, first + count):
        day = None if number % 13 == 0 else (around + timedelta(days=number % DAYS - DAYS // 2)).date()
        kind = ("a", "b", None, "c")[number % 4]
        rows.append((number, kind, day, around + timedelta(hours=7 * (number % 20) - 70), number % 3))
    spark.createDataFrame(rows, "id INT, kind STRING, day DATE, at TIMESTAMP, amount INT").coalesce(1).write.format(
        "delta"
    ).mode("append").saveAsTable("clk.event")


def maintain_at(engine, instant, names=None, **more):
    """Maintain as at an instant of the future, which nobody may ask for."""
    session = engine._session
    return engine.maintain(names, cut=make_cut(session, select_views(session, names, None), instant), **more)


def check(engine, spark, reports, instant, what):
    failed = {report.view: report.error for report in reports if report.error}
    assert not failed
    for report in reports:
        query, strategy = VIEWS[report.view.removeprefix("tv.")]
        found = difference(engine.read(report.view), spark.sql(at_instant(query, instant)))
        assert not found, f"{report.view} after {what}: {found[:6]}"
        assert report.strategy in (strategy, "noop"), f"{report.view}: {report.strategy}, {report.reason}"


def test_views_follow_the_clock(engine, spark, views, start):
    steps = {
        "time alone": (timedelta(0), lambda: None),
        "the same day": (timedelta(hours=3), lambda: None),
        "a day": (timedelta(days=1), lambda: None),
        "a day and rows": (timedelta(days=2), lambda: insert_events(spark, start, 40, 20)),
        "rows alone": (
            timedelta(days=2),
            lambda: spark.sql("UPDATE clk.event SET day = day + 1, kind = 'b' WHERE id % 5 = 1"),
        ),
        "many days": (timedelta(days=9), lambda: spark.sql("DELETE FROM clk.event WHERE id % 7 = 2")),
        "all days": (timedelta(days=90), lambda: spark.sql("INSERT INTO clk.kind VALUES ('c', 'C', 1)")),
    }
    for what, (moved, change) in steps.items():
        change()
        reports = maintain_at(engine, start + moved, raise_errors=False)
        check(engine, spark, reports, start + moved, what)
        moving = {report.view for report in reports if report.strategy != "noop"}
        if what == "the same day":
            assert moving == {f"tv.{name}" for name in ("recent", "local", "seconds", "alone") if name in views}
    again = maintain_at(engine, start + timedelta(days=90))
    assert {report.reason for report in again} == {"already_current"}
    earlier = maintain_at(engine, start)
    assert {report.strategy for report in earlier} == {"noop"}  # time never goes back
    for name in ("last_days", "by_kind", "recent", "outer_joined"):
        assert engine.validate(f"tv.{name}").ok
    # Nobody calls the clock a table.
    assert engine.lineage("tv.age") == {"tv.age": ("clk.event",)}
    found = {status.view: status for status in engine.status(["tv.age"])}["tv.age"]
    assert found.versions[CLOCK] == version_of(start + timedelta(days=90))
    assert "clock_before" in str(engine.explain("tv.last_days"))


def test_a_view_over_a_view_that_tells_the_time(engine, spark, views, start):
    engine.create("CREATE INCREMENTAL MATERIALIZED VIEW tw.counts AS SELECT count(*) AS n, max(age) AS hi FROM tv.age")
    later = start + timedelta(days=120)
    reports = {report.view: report for report in maintain_at(engine, later, ["tv.age", "tw.counts"])}
    assert reports["tw.counts"].strategy == "incremental"
    inner = at_instant(VIEWS["age"][0], later)
    assert not difference(engine.read("tw.counts"), spark.sql(f"SELECT count(*) AS n, max(age) AS hi FROM ({inner})"))
    assert CLOCK not in reports["tw.counts"].to_versions
    assert engine.validate("tw.counts").ok


def test_an_unfinished_batch_keeps_its_instant(engine, spark, views, start):
    view, instant = engine.catalog.view("tv.age"), start + timedelta(days=150)
    [report] = maintain_at(engine, start + timedelta(days=149), ["tv.age"])
    begun = tuple(
        TableRange(t, zone, report.to_versions[t], version, CommitClass.MUTATING if t == CLOCK else CommitClass.NOOP)
        for t, zone, version in (
            (CLOCK, spark.conf.get("spark.sql.session.timeZone"), version_of(instant)),
            ("clk.event", engine.catalog.table("clk.event").table_id, report.to_versions["clk.event"]),
        )
    )
    ranges = tuple(sorted(begun, key=lambda item: view.tables.index(item.table)))
    batch = Batch(view.name, report.batch + 1, ranges, view.fingerprint)
    engine.catalog.open_intent(
        view.view_id, view.name, batch, Strategy.INCREMENTAL, Reason.LINEAR, None, committed=report.batch
    )
    maintain_at(engine, start + timedelta(days=151), ["tv.age"])
    told = [record.to_versions[CLOCK] for record in engine.history("tv.age", 2)]
    assert told == [version_of(start + timedelta(days=151)), version_of(instant)]
    assert engine.validate("tv.age").ok
    found = difference(engine.read("tv.age"), spark.sql(at_instant(VIEWS["age"][0], start + timedelta(days=151))))
    assert not found


def test_another_time_zone_is_a_full_refresh(engine, spark, views, start):
    later = start + timedelta(days=160)
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        spark.conf.set("spark.sql.session.timeZone", "Pacific/Kiritimati")  # where noon in UTC is the next day
        [report] = maintain_at(engine, later, ["tv.age"], raise_errors=False)
        assert "time zone" in report.error  # the policy is strict
        [report] = maintain_at(engine, later, ["tv.age"], policy="incremental")
        assert (report.strategy, report.reason) == ("full", "time_zone_changed")
        assert not difference(engine.read("tv.age"), spark.sql(at_instant(VIEWS["age"][0], later)))
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_a_refresh_brings_back_a_clock_that_was_ahead(engine, spark, views, start):
    ahead = datetime.now(UTC) + timedelta(hours=1)
    for work in (engine.maintain, engine.cut):
        with pytest.raises(SettingsError, match="in the future"):
            work(["tv.age"], as_of=ahead)
    maintain_at(engine, start + timedelta(days=200), ["tv.age"], policy="incremental")
    found = instant_of(engine.refresh("tv.age").to_versions[CLOCK])
    assert found <= datetime.now(UTC)
    assert not difference(engine.read("tv.age"), spark.sql(at_instant(VIEWS["age"][0], found)))
    assert engine.validate("tv.age").ok
