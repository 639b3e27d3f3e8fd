"""What changes a view's rows, or its table's, and no row of a base table: the next batch must notice."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.errors import SchemaChangedError
from ivm_core.maintain import view as batches
from tests.bags import difference
from tests.maintain.database import run
from tests.maintain.test_rewind import instant

pytestmark = pytest.mark.spark

MAPPED = (
    "'delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true'"
)
ZONE = "spark.sql.session.timeZone"


@pytest.fixture
def engine(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(
        spark,
        "CREATE SCHEMA untold",
        f"CREATE TABLE untold.t (id int, g string, v int, spare int) USING DELTA TBLPROPERTIES ({MAPPED})",
        "CREATE TABLE untold.e (id int, at timestamp, day date) USING DELTA "
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
        "INSERT INTO untold.t VALUES (1, 'a', 10, 0), (2, 'a', 20, 0), (3, 'b', 30, 0), (4, 'b', 40, 0), (5, 'b', 50, 0)",
    )
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as opened:
        yield opened
    run(spark, "DROP SCHEMA untold CASCADE")


def view(name: str, query: str, policy: str = "incremental") -> str:
    return f"CREATE INCREMENTAL MATERIALIZED VIEW untold.{name} TBLPROPERTIES ('ivm.refresh_policy' = '{policy}') AS {query}"


COUNTS = "SELECT g, count(*) AS n FROM untold.t GROUP BY g HAVING count(*) > {least}"


@pytest.mark.parametrize("applied", [True, False], ids=["in the project", "made by hand"])
def test_a_view_follows_the_query_below_it(engine, spark, tmp_path, applied):
    folder = tmp_path / "sql" / "views"
    folder.mkdir(parents=True)
    above = view("groups", "SELECT count(*) AS groups, max(n) AS most FROM untold.counts")
    (folder / "counts.sql").write_text(view("counts", COUNTS.format(least=1)))
    if applied:
        (folder / "groups.sql").write_text(above)
    engine.apply(tmp_path / "sql")
    if not applied:
        engine.create(above)
    assert engine.read("untold.groups").collect() == [(2, 3)]
    (folder / "counts.sql").write_text(view("counts", COUNTS.format(least=2)))  # the same rows are stored for it
    actions = {change.name: change.action for change in engine.apply(tmp_path / "sql")}
    assert actions == {"untold.counts": "replace", "untold.groups": "replace" if applied else "unmanaged"}
    (report,) = engine.maintain(["untold.groups"])
    assert report.strategy == ("noop" if applied else "full"), report.detail
    assert engine.read("untold.groups").collect() == [(1, 3)]
    run(spark, "INSERT INTO untold.t VALUES (6, 'a', 1, 0)")
    assert {str(report.strategy) for report in engine.maintain()} <= {"incremental", "affected"}
    assert engine.read("untold.groups").collect() == [(2, 3)]


@pytest.mark.parametrize(
    ("query", "depends"),
    [
        ("SELECT CAST(at AS DATE) AS day, count(*) AS n FROM untold.e GROUP BY CAST(at AS DATE)", True),
        ("SELECT id, hour(at) AS hour FROM untold.e", True),
        (
            "SELECT day, count(*) AS n FROM untold.e WHERE day >= DATE '2026-01-01' - INTERVAL 1 MONTH GROUP BY day",
            False,
        ),
        ("SELECT id, day + make_dt_interval(0, 1) AS start FROM untold.e", True),
        ("SELECT id, datediff(HOUR, DATE '2025-07-01', day) AS hours FROM untold.e", True),
    ],
    ids=["groups", "rows", "dates only", "intervals", "hours between days"],
)
def test_rows_of_two_time_zones_do_not_mix(engine, spark, query, depends):
    before = spark.conf.get(ZONE)
    try:
        spark.conf.set(ZONE, "UTC")
        run(
            spark,
            "INSERT INTO untold.e VALUES (1, TIMESTAMP '2026-01-01 22:30:00', DATE '2026-01-01'), "
            "(2, TIMESTAMP '2026-01-02 01:00:00', DATE '2026-01-02')",
        )
        engine.create(view("times", query))
        spark.conf.set(ZONE, "Europe/Zurich")
        run(spark, "DELETE FROM untold.e WHERE id = 1")
        (report,) = engine.maintain()
        assert (str(report.strategy) == "full") is depends
        assert depends is (report.reason == "time_zone_changed")
        assert not difference(engine.read("untold.times"), spark.sql(query))
        run(spark, "INSERT INTO untold.e SELECT id + 1, at, day FROM untold.e")
        assert engine.maintain()[0].strategy == "incremental"
        assert not difference(engine.read("untold.times"), spark.sql(query))
    finally:
        spark.conf.set(ZONE, before)


@pytest.mark.parametrize(
    "changes",
    [
        ("DROP COLUMN v", "ADD COLUMN v int"),
        ("RENAME COLUMN v TO was", "ADD COLUMN v int"),
        ("RENAME COLUMN v TO x", "RENAME COLUMN spare TO v", "RENAME COLUMN x TO spare"),
        ("DROP COLUMN spare", "ADD COLUMN spare int"),
    ],
    ids=["dropped and added", "renamed and added", "swapped", "another"],
)
@pytest.mark.parametrize("more", [False, True], ids=["alone", "with rows"])
def test_another_column_of_the_same_name_has_other_values(engine, spark, changes, more):
    query = "SELECT id, g, v FROM untold.t"
    engine.create(view("rows", query))
    run(spark, *(f"ALTER TABLE untold.t {change}" for change in changes))
    if more:
        run(spark, "INSERT INTO untold.t (id, g, v) VALUES (6, 'c', 60)", "DELETE FROM untold.t WHERE id = 1")
    (report,) = engine.maintain()
    assert report.strategy == "incremental", report.detail
    assert not difference(engine.read("untold.rows"), spark.sql(query))


def test_another_field_of_the_same_name_has_other_values(engine, spark):
    run(
        spark,
        f"CREATE TABLE untold.s (id int, st struct<q: int, p: int>) USING DELTA TBLPROPERTIES ({MAPPED})",
        "INSERT INTO untold.s VALUES (1, struct(10, 11)), (2, NULL)",
    )
    engine.create(view("fields", "SELECT id, st.p AS p, to_json(st) AS text FROM untold.s"))
    run(
        spark,
        "ALTER TABLE untold.s DROP COLUMN st.p",
        "ALTER TABLE untold.s ADD COLUMN st.p int",
        "INSERT INTO untold.s VALUES (3, struct(30, 31))",
    )
    (report,) = engine.maintain(["untold.fields"])
    assert report.error is None
    assert not difference(
        engine.read("untold.fields"), spark.sql("SELECT id, st.p AS p, to_json(st) AS text FROM untold.s")
    )


@pytest.mark.parametrize("another_process", [False, True])
@pytest.mark.parametrize(
    "query", ["SELECT g, avg(v) AS mean, sum(v) AS total FROM untold.t GROUP BY g", "SELECT * FROM untold.t"]
)
def test_a_retyped_column_stops_a_view_though_another_was_made_since(engine, spark, query, another_process):
    engine.create(view("averages", query))
    run(spark, "ALTER TABLE untold.t ALTER COLUMN v TYPE bigint", "INSERT INTO untold.t VALUES (6, 'a', 3000000000, 0)")
    engine.create(view("other", "SELECT g, v FROM untold.t"))
    if another_process:
        engine._session.forget(engine.catalog.view("untold.averages").view_id)
    reports = {report.view: report for report in engine.maintain(raise_errors=False)}
    assert reports["untold.other"].error is None
    assert "v is bigint now, no longer int" in reports["untold.averages"].error
    with pytest.raises(SchemaChangedError):
        engine.maintain(["untold.averages"])


@pytest.mark.parametrize("query", ["SELECT id, g, v FROM untold.t", "SELECT g, sum(v) AS v FROM untold.t GROUP BY g"])
def test_somebody_else_writes_the_state_while_a_batch_is_computed(engine, spark, monkeypatch, query):
    engine.create(view("rows", query))
    location = engine.status("untold.rows")[0].location
    run(spark, "INSERT INTO untold.t VALUES (6, 'c', 60, 0)")
    execute = batches._execute

    def meanwhile(*arguments):
        run(spark, f"DELETE FROM delta.`{location}` WHERE g = 'a'")
        return execute(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(batches, "_execute", meanwhile)
        assert engine.maintain()[0].strategy == "incremental"
    spoilt = instant()
    run(spark, "INSERT INTO untold.t VALUES (7, 'd', 70, 0)")
    (report,) = engine.maintain()
    assert (report.strategy, report.reason) == ("full", "state_changed")
    assert not difference(engine.read("untold.rows"), spark.sql(query))
    assert engine.maintain()[0].strategy == "noop"
    # Nor does a view go back to the rows of that batch.
    (report,) = engine.maintain(mode="rewind", as_of=spoilt)
    assert "went back to batch 1" in report.detail
    assert not difference(engine.read("untold.rows"), spark.sql(query))


@pytest.mark.parametrize(
    "query",
    ["SELECT id, v FROM untold.t", "SELECT g, median(v) AS m FROM untold.t GROUP BY g", COUNTS.format(least=1)],
    ids=["rows", "groups computed anew", "merged groups"],
)
def test_somebody_adds_a_column_to_the_state(engine, spark, query):
    record = engine.create(view("v", query))
    run(spark, f"ALTER TABLE delta.`{record.location}` ADD COLUMN more INT")
    for change in ("DELETE FROM untold.t WHERE id IN (1, 3)", "INSERT INTO untold.t VALUES (6, 'c', 1, 0)"):
        run(spark, change)
        (report,) = engine.maintain(["untold.v"])
        assert report.strategy in ("incremental", "affected"), report.detail
        assert not difference(engine.read("untold.v"), spark.sql(query))
