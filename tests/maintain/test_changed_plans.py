"""What a view's query means may change while processes maintain it: the state is always of the query that is registered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.errors import BaseTableError, DefinitionError, DriftError, HistoryGone, IvmError, UnknownViewError
from ivm_core.maintain import validation
from ivm_core.maintain import view as batches
from tests.bags import difference
from tests.maintain.database import FEED, processes, run
from tests.sampling import one_in

pytestmark = pytest.mark.spark


@pytest.fixture
def place(spark, tmp_path, monkeypatch):
    """Open engines on one deployment, as several processes would."""
    monkeypatch.chdir(tmp_path)  # where the manifest is written
    run(
        spark,
        "CREATE SCHEMA plans",
        f"CREATE TABLE plans.t (id int, x int) USING DELTA {FEED}",
        f"CREATE TABLE plans.u (id int, y int, q int) USING DELTA {FEED}",
        "INSERT INTO plans.t VALUES (1, 10), (2, 20)",
        "INSERT INTO plans.u VALUES (1, 5, 0), (2, 6, 0)",
    )
    with processes(spark, tmp_path) as connect:
        yield connect
    run(spark, "DROP SCHEMA plans CASCADE")


def define(engine, query, policy="incremental"):
    properties = f"TBLPROPERTIES ('ivm.refresh_policy' = '{policy}')"
    return engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW plans.v {properties} AS {query}")


def apply(engine, tmp_path, query):
    (tmp_path / "sql" / "views").mkdir(parents=True, exist_ok=True)
    properties = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')"
    text = f"CREATE INCREMENTAL MATERIALIZED VIEW plans.v {properties} AS {query};\n"
    (tmp_path / "sql" / "views" / "v.sql").write_text(text)
    engine.apply(tmp_path / "sql")


def right(engine, spark, query) -> bool:
    return not difference(engine.read("plans.v"), spark.sql(query))


@pytest.mark.parametrize("died", one_in(2, ["in its query", "before its commit", "after its commit"]))
def test_a_corrected_definition_is_built_after_a_creation_that_failed(place, spark, monkeypatch, died):
    engine, good = place(), "SELECT id, x / nullif(x - 10, 0) AS r FROM plans.t"
    wrong = (
        "SELECT id, x / (x - 10) AS r FROM plans.t"
        if died == "in its query"
        else "SELECT id, x * 2.0D AS r FROM plans.t"
    )

    def die(*_, **__):
        raise RuntimeError("the process died")

    with monkeypatch.context() as patched:
        if died == "before its commit":
            patched.setattr(batches, "_execute", die)
        elif died == "after its commit":
            patched.setattr(type(engine.catalog), "add_batch", die)
        with pytest.raises((RuntimeError, IvmError)):
            define(engine, wrong)
    other = place()
    record = define(other, good)
    assert good in record.sql
    assert right(other, spark, good)
    assert [view.name for view in other.catalog.views()] == ["plans.v"]


def test_the_same_creation_is_finished(place, spark, monkeypatch):
    engine, query = place(), "SELECT id, x FROM plans.t"

    def die(*_, **__):
        raise RuntimeError("the process died")

    with monkeypatch.context() as patched:
        patched.setattr(type(engine.catalog), "add_batch", die)
        with pytest.raises(RuntimeError):
            define(engine, query)
    begun = engine.catalog.view("plans.v")
    assert define(place(), query).view_id == begun.view_id


def test_two_processes_create_the_same_view(place, spark, monkeypatch):
    one, two, query = place(), place(), "SELECT id, x FROM plans.t"
    add_view = two.catalog.add_view

    def late(record):
        define(one, query)
        return add_view(record)

    monkeypatch.setattr(two.catalog, "add_view", late)
    assert define(two, query) == one.catalog.view("plans.v")
    assert right(two, spark, query)


@pytest.mark.parametrize("died", ["in its query", "after its commit"])
def test_a_creation_that_a_run_makes_up_for_is_complete(place, spark, monkeypatch, died):
    engine, query = place(), "SELECT id, 100 / (x - 10) AS r FROM plans.t WHERE id > 1"

    def die(*_, **__):
        raise RuntimeError("the process died")

    with monkeypatch.context() as patched:
        if died == "in its query":
            run(spark, "UPDATE plans.t SET x = 10")
        else:
            patched.setattr(type(engine.catalog), "add_batch", die)
        with pytest.raises((RuntimeError, IvmError)):
            define(engine, query)
    assert engine.catalog.view("plans.v").status == "creating"
    run(spark, "UPDATE plans.t SET x = 30")
    later = place()
    later.maintain()
    assert later.catalog.view("plans.v").status == "active"
    assert place().query("SELECT r FROM plans.v").collect() == [(5.0,)]


def test_a_process_that_knew_the_query_before_goes_on_with_the_new_one(place, spark, tmp_path):
    one, other = place(), place()
    apply(one, tmp_path, "SELECT id, x FROM plans.t WHERE x > 10")
    run(spark, "INSERT INTO plans.t VALUES (3, 15)")
    one.maintain()
    apply(other, tmp_path, "SELECT id, x FROM plans.t WHERE x > 14 AND id > 0")
    run(spark, "INSERT INTO plans.t VALUES (4, 12), (5, 30)", "DELETE FROM plans.t WHERE id = 2")
    (report,) = one.maintain()
    assert str(report.strategy) == "incremental"
    assert right(one, spark, "SELECT id, x FROM plans.t WHERE x > 14 AND id > 0")
    assert one.validate("plans.v").ok


def test_a_run_that_began_before_the_query_was_replaced_takes_the_new_one(place, spark, tmp_path):
    one, other = place(), place()
    apply(one, tmp_path, "SELECT id FROM plans.t")
    before = one.catalog.view("plans.v")
    apply(other, tmp_path, "SELECT id, x FROM plans.t")
    run(spark, "INSERT INTO plans.t VALUES (3, 15)")
    report = batches.maintain_view(one._session, before, one.cut(["plans.v"]))
    assert str(report.strategy) == "incremental"
    assert right(other, spark, "SELECT id, x FROM plans.t")


def test_a_view_that_was_dropped_meanwhile_is_not_written(place, spark):
    one, other = place(), place()
    before = define(one, "SELECT id FROM plans.t")
    other.drop("plans.v")
    with pytest.raises(UnknownViewError):
        batches.maintain_view(one._session, before, other.cut([]))


@pytest.mark.parametrize(
    "query", one_in(2, ["SELECT id, x, y FROM plans.t NATURAL JOIN plans.u", "SELECT * FROM plans.t"])
)
def test_a_query_that_means_other_columns_than_before_is_computed_anew(place, spark, query):
    engine = place()
    define(engine, query)
    run(spark, "ALTER TABLE plans.t ADD COLUMNS (q int)", "INSERT INTO plans.t VALUES (3, 30, 7)")
    run(spark, "INSERT INTO plans.u VALUES (3, 7, 7)")
    engine.maintain()
    engine.create("CREATE INCREMENTAL MATERIALIZED VIEW plans.w AS SELECT q FROM plans.t")  # learns of the column
    engine.drop("plans.w")
    later = place()
    run(spark, "INSERT INTO plans.t VALUES (1, 11, 0)", "INSERT INTO plans.u VALUES (2, 8, NULL)")
    with pytest.raises(BaseTableError, match="another plan"):
        later.validate("plans.v")
    (report,) = later.maintain()
    assert (report.strategy, report.reason) == (Strategy.FULL, Reason.PLAN_CHANGED)
    assert right(later, spark, query)
    run(spark, "DELETE FROM plans.t WHERE x = 11")
    (report,) = place().maintain()
    assert (str(report.strategy), report.error) == ("incremental", None)
    assert right(later, spark, query)
    assert later.read("plans.v").columns == spark.sql(query).columns


@pytest.mark.parametrize(
    ("query", "readable"),
    [
        ("SELECT id, median(y) AS m FROM plans.u GROUP BY id", True),
        ("SELECT id, median(y) AS m FROM plans.u GROUP BY id HAVING median(y) > 5", False),
        ("SELECT id, median(y) AS m FROM plans.u GROUP BY id ORDER BY id LIMIT 1", False),
    ],
)
def test_a_state_of_another_plan_is_not_read_where_rows_are_left_out_on_reading(place, spark, query, readable):
    record = define(place(), query)
    run(spark, "DROP VIEW plans.v")
    place().catalog.update_view(replace(record, fingerprint="of another version"))
    later = place()
    if readable:
        assert right(later, spark, query)
    else:
        with pytest.raises(DriftError, match=r"state of plans\.v .* another form of its query.*ivm maintain plans\.v"):
            later.read("plans.v")
    later.maintain()
    assert right(later, spark, query)


def test_a_state_without_a_column_of_its_query_hides_only_itself(place, spark):
    define(place(), "SELECT * FROM plans.t", "incremental_strict")
    place().create("CREATE INCREMENTAL MATERIALIZED VIEW plans.w AS SELECT id FROM plans.u")
    run(spark, "ALTER TABLE plans.t ADD COLUMNS (q int)", "INSERT INTO plans.t VALUES (3, 30, 7)")
    place().create("CREATE INCREMENTAL MATERIALIZED VIEW plans.z AS SELECT q FROM plans.t")  # learns of the column
    errors = {report.view: report.error for report in place().maintain(raise_errors=False)}
    assert "incremental_strict" in errors["plans.v"] and not errors["plans.w"]
    later = place()
    assert later.query("SELECT count(*) FROM plans.w").collect() == [(2,)]
    with pytest.raises(DriftError, match=r"ivm refresh plans\.v"):
        later.read("plans.v")


def test_a_table_that_the_plan_does_without_is_still_known(place, spark):
    query = "SELECT id FROM plans.t WHERE EXISTS (SELECT max(y) FROM plans.u WHERE u.id = t.id)"
    define(place(), query)
    run(spark, "INSERT INTO plans.t VALUES (3, 30)")
    later = place()
    (report,) = later.maintain()
    assert report.error is None
    assert right(later, spark, query)


def test_a_batch_that_was_begun_and_would_now_be_full_does_not_stop_another(place, spark, monkeypatch):
    engine, query = place(), "SELECT id, x FROM plans.t"
    define(engine, query, "auto")
    run(spark, "INSERT INTO plans.t VALUES (3, 30)")
    cut = engine.cut(["plans.v"])
    run(spark, "INSERT INTO plans.t VALUES (4, 40)")

    def die(*_, **__):
        raise RuntimeError("the process died")

    with monkeypatch.context() as patched:
        patched.setattr(batches, "_execute", die)
        engine.maintain(raise_errors=False)
    decide, full = batches.decide_to_run, Decision(Strategy.FULL, Reason.CHEAPER)
    begun = engine.catalog.open_intents("plans.v")[0].batch.to_versions

    def by_size(session, view, now, batch, policy):
        return full if batch.to_versions == begun else decide(session, view, now, batch, policy)

    monkeypatch.setattr(batches, "decide_to_run", by_size)
    report = batches.maintain_view(engine._session, engine.catalog.view("plans.v"), cut)
    assert (str(report.strategy), report.error) == ("incremental", None)
    assert not engine.catalog.open_intents("plans.v")
    engine.maintain()
    assert right(engine, spark, query)


def test_a_batch_that_is_committed_while_a_view_is_compared_is_no_difference(place, spark, monkeypatch):
    engine = place()
    define(engine, "SELECT id, x FROM plans.t")
    standing = validation.standing

    def then_a_batch(session, view):
        found = standing(session, view)
        run(spark, "INSERT INTO plans.t VALUES (3, 30)")
        engine.maintain()
        return found

    monkeypatch.setattr(validation, "standing", then_a_batch)
    assert engine.validate("plans.v").ok
    assert engine.catalog.last_validation("plans.v").batch_number == 1


def test_a_cut_is_published_where_all_views_of_the_group_stand_at_it(place, spark):
    engine = place()
    define(engine, "SELECT id, x FROM plans.t")
    engine.create(
        "CREATE INCREMENTAL MATERIALIZED VIEW plans.w TBLPROPERTIES ('ivm.refresh_policy' = 'incremental') AS SELECT id FROM plans.u"
    )
    group = engine.catalog.view("plans.v").group
    engine.maintain(run_id="first")
    assert engine.catalog.latest_cut(group).run_id == "first"
    run(spark, "INSERT INTO plans.t VALUES (3, 30)")
    engine.maintain(["plans.v"], run_id="some")
    assert engine.catalog.latest_cut(group).run_id == "first"
    early = engine.cut()
    run(spark, "INSERT INTO plans.t VALUES (4, 40)")
    engine.maintain(run_id="all")
    engine.maintain(cut=early, run_id="late")
    published = engine.catalog.latest_cut(group)
    assert (published.run_id, len(published.states)) == ("all", 2)


def test_a_run_of_several_groups_publishes_a_cut_for_each(place, spark):
    engine = place()
    define(engine, "SELECT id, x FROM plans.t")
    engine.create("CREATE INCREMENTAL MATERIALIZED VIEW plans.w GROUP weekly AS SELECT id FROM plans.u")
    run(spark, "INSERT INTO plans.t VALUES (3, 30)", "INSERT INTO plans.u VALUES (3, 7, 0)")
    engine.maintain(run_id="all")
    for view in ("plans.v", "plans.w"):
        published = engine.catalog.latest_cut(engine.catalog.view(view).group)
        assert (published.run_id, [state.table for state in published.states]) == ("all", [view])
        assert engine.read_published(published.group)[view].count() == 3


def test_the_views_of_a_group_are_read_as_it_published_them_last(place, spark, tmp_path):
    engine = place()
    define(engine, "SELECT id, count(*) AS n FROM plans.t GROUP BY id HAVING count(*) < 3")
    engine.create("CREATE INCREMENTAL MATERIALIZED VIEW plans.w AS SELECT id FROM plans.u WHERE id > 0")
    group = engine.catalog.view("plans.v").group
    with pytest.raises(UnknownViewError, match="has published no cut yet"):
        engine.read_published(group)
    engine.maintain()
    before = {name: sorted(engine.read(name).collect()) for name in ("plans.v", "plans.w")}
    run(spark, "INSERT INTO plans.t SELECT id, 0 FROM plans.t")
    run(spark, "INSERT INTO plans.u SELECT * FROM plans.u")
    engine.maintain(["plans.v"])
    assert sorted(engine.read("plans.v").collect()) != before["plans.v"]
    found = engine.read_published(group.upper())
    assert {name: sorted(frame.collect()) for name, frame in found.items()} == before
    engine.drop("plans.w")
    assert list(engine.read_published(group)) == ["plans.v"]
    shown = "SELECT id, count(*) AS n FROM plans.t GROUP BY id HAVING count(*) < {0}"
    apply(engine, tmp_path, shown.format(5))  # over the same state
    with pytest.raises(HistoryGone, match="ivm maintain --group"):
        engine.read_published(group)
    apply(engine, tmp_path, shown.format(3))
    assert sorted(engine.read_published(group)["plans.v"].collect()) == before["plans.v"]
    apply(engine, tmp_path, "SELECT id, x FROM plans.t")
    with pytest.raises(HistoryGone, match="ivm maintain --group"):
        engine.read_published(group)


@pytest.mark.parametrize("item", ["interval 1 day 2 hours", "array(interval 3 months)"])
def test_an_interval_is_no_column(place, item):
    with pytest.raises(DefinitionError, match=r"i is an .*INTERVAL.*CAST"):
        define(place(), f"SELECT id, {item} AS i FROM plans.t")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT id % 2 AS odd, cast(max(make_dt_interval(id)) AS string) AS m FROM plans.t GROUP BY id % 2",
            "kept beside .* INTERVAL",
        ),
        ("SELECT id, array() AS z FROM plans.t", r"z is an ARRAY<VOID>.*CAST"),
        ("SELECT id, x AS _change_type FROM plans.t", r"_change_type is a column of Delta's change data feed"),
    ],
)
def test_what_no_delta_table_holds_is_refused(place, query, message):
    with pytest.raises(DefinitionError, match=message):
        define(place(), query)
