"""A view that differs from its query is mended where it differs, as one batch, and then right, now and later."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.engine import commit
from ivm_core.maintain import view as maintenance
from tests.bags import difference
from tests.maintain.database import set_limits

pytestmark = pytest.mark.spark

ROWS = "SELECT k, v FROM rep.t WHERE v > 0"
SUMS = "SELECT k, sum(v) AS s, max(v) AS hi FROM rep.t GROUP BY k"
COUNTS = "SELECT k, count(DISTINCT v) AS n FROM rep.t GROUP BY k"
MEDIANS = "SELECT k, median(v) AS m FROM rep.t GROUP BY k"
TOTAL = "SELECT count(*) AS n, median(v) AS m FROM rep.t"

# What is done to the view's table, and the repair: its strategy, and how many rows it changes.
DAMAGES = {
    "rows_gone_changed_and_twice": (
        ROWS,
        [
            "DELETE FROM {t} WHERE v = 2",
            "UPDATE {t} SET v = 99 WHERE v = 3",
            "INSERT INTO {t} SELECT k, v, -1, 0 FROM {t} WHERE v = 4",
        ],
        "repair",
        5,  # one back, one for another, one of two out, and of the two equal rows with v = 2 both back
    ),
    "a_wrong_sum": (SUMS, ["UPDATE {t} SET __ivm_sum_1 = 0 WHERE k = 1"], "repair", 1),
    "a_wrong_hidden_count": (SUMS, ["UPDATE {t} SET __ivm_count = 9 WHERE k = 1"], "repair", 1),
    "groups_gone_and_invented": (
        SUMS,
        ["DELETE FROM {t} WHERE k IS NULL", "INSERT INTO {t} SELECT 77, * EXCEPT (k) FROM {t} WHERE k = 2"],
        "repair",
        2,
    ),
    "a_wrong_count_of_distinct_values": (
        COUNTS,
        ["UPDATE {t} SET __ivm_distinct_nonnull_1 = 0 WHERE k = 2"],
        "repair",
        1,
    ),
    "a_recomputed_group": (MEDIANS, ["UPDATE {t} SET m = 0 WHERE k = 2"], "repair", 1),
    "a_group_stored_twice": (SUMS, ["INSERT INTO {t} SELECT * FROM {t} WHERE k = 1"], "full", None),
    "one_group": (TOTAL, ["UPDATE {t} SET m = 0"], "full", None),
}


@pytest.fixture(scope="module")
def engine(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("repair")
    spark.sql("CREATE SCHEMA rep")
    spark.sql("CREATE TABLE rep.t (k INT, v INT) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    spark.sql("INSERT INTO rep.t VALUES (1, 1), (1, 2), (1, 2), (2, 3), (2, 4), (NULL, 5), (3, NULL), (3, -1)")
    with Engine.open(spark=spark, catalog=f"sqlite:///{folder}/ivm.db", warehouse=folder / "warehouse") as opened:
        yield opened


# Each damage in the one or the other way of writing; both ways for each are among the slow tests.
WAYS = [
    pytest.param(name, large, id=f"{name}-{way}", marks=[pytest.mark.slow] if (place + large) % 2 else [])
    for place, name in enumerate(DAMAGES)
    for way, large in (("rewritten", False), ("merged", True))
]


@pytest.mark.parametrize(("name", "large"), WAYS)
def test_what_differs_is_mended_and_nothing_else(engine, spark, name, large):
    query, damage, strategy, rows = DAMAGES[name]
    view = f"repv.{name}_{large}"
    record = engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {view} AS {query}")
    before = engine.validate(view)
    assert before.ok
    for statement in damage:
        spark.sql(statement.replace("{t}", f"delta.`{record.location}`"))
    set_limits(engine, replace_rows=0 if large else 100_000)
    engine.validate(view)
    report = engine.repair(view, "run")
    assert report.strategy == strategy, report.detail
    assert report.reason == "repaired" and (report.detail != "") is (strategy == "full")
    assert rows is None or report.rows_changed == rows
    assert report.from_versions == report.to_versions == before.versions
    assert engine.validate(view).ok and engine.status([view])[0].validated
    assert not difference(engine.read(view), spark.sql(query))
    # The batches to come find hidden counts and sums right, and no reason to compute anything anew.
    for change in ("INSERT INTO rep.t VALUES (1, 7), (9, 9)", "DELETE FROM rep.t WHERE v IN (7, 9)"):
        spark.sql(change)
        (report,) = engine.maintain([view], policy="incremental")
        assert report.strategy in ("incremental", "affected") and not difference(engine.read(view), spark.sql(query))


@pytest.mark.parametrize("query", [ROWS, SUMS], ids=["rows", "groups"])
def test_a_sample_compares_whole_groups_on_both_sides(engine, spark, query):
    view = f"repv.sampled_{len(query)}"
    spark.sql("INSERT INTO rep.t SELECT CAST(id AS INT), 1 FROM range(1000, 3000)")
    sample = "TBLPROPERTIES ('ivm.validate_sample' = '10 %')"
    record = engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {view} {sample} AS {query}")
    right = engine.validate(view)
    assert right.ok and right.coverage == 0.1 and 100 < right.rows < 400
    assert engine.catalog.last_validation(view).coverage == 0.1
    assert engine.validate(view, measure_full=True).coverage == 1.0
    spark.sql(f"DELETE FROM delta.`{record.location}` WHERE k >= 1000")
    wrong = engine.validate(view)
    assert not wrong.ok and (wrong.missing_count, wrong.unexpected_count) == (right.rows - wrong.rows, 0)
    assert engine.status([view])[0].status == "drifted"
    # A sample that happens to be right must not take the mark away: what differed is compared whole.
    again = engine.validate(view)
    assert again.coverage == 1.0 and again.missing_count == 2000
    assert engine.repair(view).rows_changed == 2000 and engine.validate(view).coverage == 1.0
    assert engine.validate(view).coverage == 0.1
    spark.sql("DELETE FROM rep.t WHERE k >= 1000")


def test_rows_that_go_while_a_repair_is_computed(engine, spark, monkeypatch):
    view = "repv.meanwhile"
    set_limits(engine, replace_rows=0)  # the state is merged into, so that a commit in between is no conflict
    record = engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {view} AS {SUMS}")
    spark.sql(f"UPDATE delta.`{record.location}` SET __ivm_sum_1 = 0 WHERE k = 1")
    assert not engine.validate(view).ok

    def after_somebody(*given, **named):
        spark.sql(f"DELETE FROM delta.`{record.location}` WHERE k = 2")
        return run(*given, **named)

    run = commit.execute
    monkeypatch.setattr(commit, "execute", after_somebody)
    engine.repair(view)
    monkeypatch.undo()
    (report,) = engine.maintain([view])
    assert (report.strategy, report.reason) == ("full", "state_changed")
    assert engine.validate(view).ok
    set_limits(engine, replace_rows=100_000)


@pytest.mark.parametrize("committed", [False, True])
def test_a_repair_that_died(engine, spark, monkeypatch, committed):
    view = f"repv.died_{committed}".lower()
    record = engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {view} AS {SUMS}")
    spark.sql(f"UPDATE delta.`{record.location}` SET __ivm_sum_1 = 0 WHERE k = 1")
    assert not engine.validate(view).ok and not engine.status([view])[0].validated

    def die(*given, **named):
        if committed:
            run(*given, **named)
        raise KeyboardInterrupt

    run = maintenance.run
    monkeypatch.setattr(maintenance, "run", die)
    with pytest.raises(KeyboardInterrupt):
        engine.repair(view)
    monkeypatch.undo()
    assert engine.catalog.open_intents(view)
    spark.sql("INSERT INTO rep.t VALUES (1, 50)")
    (report,) = engine.maintain([view], policy="incremental")
    assert not engine.catalog.open_intents(view) and not report.error
    # Not committed: somebody else's rows are noticed by the next batch, whatever becomes of the repair.
    assert report.strategy == ("incremental" if committed else "full")
    assert engine.validate(view).ok and not difference(engine.read(view), spark.sql(SUMS))
    assert (engine.history(view)[1].strategy == "repair") is committed


def test_a_repair_in_a_session_of_another_time_zone(engine, spark):
    """What differs would be mended by the days of this zone, and the view said to stand at those of the other."""
    zone = "spark.sql.session.timeZone"
    before = spark.conf.get(zone)
    try:
        spark.conf.set(zone, "UTC")
        location = engine.create(
            "CREATE MATERIALIZED VIEW rep.days AS SELECT k, current_date() AS day FROM rep.t"
        ).location
        spark.sql(f"DELETE FROM delta.`{location}` WHERE k = 1")
        spark.conf.set(zone, "Pacific/Kiritimati")
        report = engine.repair("rep.days")
        assert (report.strategy, report.reason) == ("full", "time_zone_changed")
        assert engine.validate("rep.days").ok
        assert engine.maintain(["rep.days"])[0].strategy in ("noop", "incremental")
    finally:
        spark.conf.set(zone, before)
        engine.drop("rep.days")
