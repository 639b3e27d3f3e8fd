"""What is put into the catalogue comes out of it, equal, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from sqlalchemy import event

from ivm_core.batch.model import Cut, TableVersion
from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.model import IntentState, LifeStage, TableRecord, ValidationRecord
from ivm_core.cost.model import Reason, Strategy
from ivm_core.errors import CatalogError, UnknownViewError, ViewExistsError
from tests.catalog.records import NOW, batch, done, view


def test_tables(catalog: Catalog) -> None:
    orders = TableRecord(
        name="tpch.orders",
        table_id="a",
        location="s3a://bucket/a b/orders",
        columns=(("o_orderkey", "bigint"), ("o'; DROP TABLE x", "array<int>")),
        primary_key=("o_orderkey",),
        foreign_keys=((("o_custkey", "o_x"), "tpch.customer", ("c_custkey", "c_x")),),
        properties=(("delta.enableChangeDataFeed", "true"),),
    )
    assert catalog.table("tpch.orders") is None
    catalog.upsert_table(orders)
    catalog.upsert_table(replace(orders, name="tpch.a", foreign_keys=()))
    assert catalog.table("tpch.orders") == orders
    catalog.upsert_table(replace(orders, table_id="b"))
    assert [(table.name, table.table_id) for table in catalog.tables()] == [("tpch.a", "a"), ("tpch.orders", "b")]


def test_views(catalog: Catalog) -> None:
    first, second = view("gold.b", "tpch.orders"), view("gold.a", "gold.b", "tpch.orders", group="daily")
    assert catalog.add_view(first) == first
    assert catalog.add_view(second) == second
    assert catalog.view("gold.b") == first
    assert catalog.views() == (second, first)
    assert catalog.views("hourly") == (first,)
    assert catalog.dependants("tpch.orders") == ("gold.a", "gold.b")
    assert catalog.dependants("gold.b") == ("gold.a",)
    changed = replace(first, columns=(), comment="x", schedule=None)
    catalog.update_view(replace(changed, status=LifeStage.DRIFTED))  # whose record may be one of before
    assert catalog.find_view("gold.b") == changed


def test_a_view_that_was_dropped_meanwhile_stays_dropped(catalog: Catalog) -> None:
    read_before = catalog.add_view(view("gold.v", status=LifeStage.CREATING))
    catalog.remove_view("gold.v")
    with pytest.raises(UnknownViewError):
        catalog.update_view(read_before)
    catalog.mark_built(read_before.view_id)
    assert catalog.find_view("gold.v") is None


def test_a_view_is_built_once(catalog: Catalog) -> None:
    begun = catalog.add_view(view("gold.v", status=LifeStage.CREATING))
    catalog.mark_built(begun.view_id)
    assert catalog.view("gold.v").status is LifeStage.ACTIVE


def test_same_sql_is_registered_once(catalog: Catalog) -> None:
    first = catalog.add_view(view("gold.v"))
    assert catalog.add_view(view("gold.v")) == first
    with pytest.raises(ViewExistsError, match=r"gold\.v with another definition"):
        catalog.add_view(view("gold.v", sql="other"))
    catalog.add_view(view("gold.w"))
    with pytest.raises(ViewExistsError, match="belongs to another view"):
        catalog.update_view(replace(first, name="gold.w"))


def test_unfinished_view_gives_way(catalog: Catalog) -> None:
    unfinished = catalog.add_view(view("gold.v", status=LifeStage.CREATING))
    catalog.open_intent(unfinished.view_id, "gold.v", batch("gold.v", 1), Strategy.FULL, Reason.FIRST_BUILD)
    other = view("gold.v", sql="other")
    assert catalog.add_view(other) == other
    assert catalog.view("gold.v") == other
    assert catalog.open_intents() == ()


def test_unknown_view_names_close_ones(catalog: Catalog) -> None:
    catalog.add_view(view("gold.revenue_by_nation"))
    for asked in ("gold.revenue_by_nations", "Gold.Revenue_By_Nation", "revenue_by_nation"):
        with pytest.raises(UnknownViewError, match=r"did you mean gold\.revenue_by_nation\?"):
            catalog.view(asked)
    with pytest.raises(UnknownViewError, match="ivm status"):
        catalog.view("x")
    with pytest.raises(UnknownViewError):
        catalog.update_view(view("gold.x"))
    assert catalog.find_view("gold.x") is None


def test_removed_view_frees_its_name_and_keeps_its_history(catalog: Catalog) -> None:
    old = catalog.add_view(view("gold.v"))
    catalog.add_view(view("gold.w", "gold.v"))
    with pytest.raises(ViewExistsError, match=r"read by gold\.w"):
        catalog.remove_view("gold.v")
    catalog.remove_view("gold.w")
    catalog.open_intent(old.view_id, "gold.v", batch("gold.v", 1), Strategy.FULL, Reason.FIRST_BUILD)
    catalog.add_batch(done("gold.v", 1))
    catalog.remove_view("gold.v")
    assert catalog.views() == ()
    assert catalog.open_intents() == ()
    assert catalog.history("gold.v") == (done("gold.v", 1),)
    with pytest.raises(UnknownViewError):
        catalog.open_intent(old.view_id, "gold.v", batch("gold.v", 2), Strategy.FULL, Reason.REQUESTED)
    new = catalog.add_view(view("gold.v", sql="other"))
    assert catalog.last_number(new.view_id) == 0
    assert catalog.history("gold.v") == ()


def test_intents(catalog: Catalog) -> None:
    known = catalog.add_view(view("gold.v"))
    first = catalog.open_intent(
        known.view_id, "gold.v", batch("gold.v", 1), Strategy.AFFECTED, Reason.AFFECTED_KEYS, "run 1"
    )
    assert (first.number, first.batch, first.state) == (1, batch("gold.v", 1), IntentState.OPEN)
    # The open one is returned, whatever else is asked for.
    again = catalog.open_intent(known.view_id, "gold.v", batch("gold.v", 2, to=9), Strategy.FULL, Reason.REQUESTED)
    assert again == first
    assert catalog.open_intents() == catalog.open_intents("gold.v") == (first,)
    catalog.settle_intent(known.view_id, 1, "abandoned")
    catalog.settle_intent(known.view_id, 1, IntentState.ABANDONED)
    with pytest.raises(CatalogError, match="cannot become applied: it is abandoned already"):
        catalog.settle_intent(known.view_id, 1, IntentState.APPLIED)
    with pytest.raises(CatalogError, match="was never begun"):
        catalog.settle_intent(known.view_id, 7, IntentState.APPLIED)
    # An abandoned number stays bound.
    for number in (1, 3):
        with pytest.raises(CatalogError, match="the next one is 2"):
            catalog.open_intent(known.view_id, "gold.v", batch("gold.v", number), Strategy.INCREMENTAL, Reason.LINEAR)
    second = catalog.open_intent(known.view_id, "gold.v", batch("gold.v", 2), Strategy.INCREMENTAL, Reason.LINEAR)
    assert second.number == catalog.last_number(known.view_id) == 2


def test_number_follows_what_the_table_carries(catalog: Catalog) -> None:
    """A catalogue from a backup: its last number is 0, the view's table is at 5."""
    known = catalog.add_view(view("gold.v"))
    arguments = (Strategy.INCREMENTAL, Reason.LINEAR)
    with pytest.raises(CatalogError, match="the next one is 6"):
        catalog.open_intent(known.view_id, "gold.v", batch("gold.v", 1), *arguments, committed=5)
    assert catalog.open_intent(known.view_id, "gold.v", batch("gold.v", 6), *arguments, committed=5).number == 6


def test_a_view_without_tables_has_a_last_batch(catalog: Catalog) -> None:
    catalog.add_view(view("gold.v"))
    built = done("gold.v", 1, from_versions={}, to_versions={})
    catalog.add_batch(built)
    catalog.add_batch(done("gold.v", 2, from_versions={}, to_versions={}, error="boom"))
    assert catalog.last_batch("gold.v") == built
    assert catalog.activity()[0].last_batch.number == 1
    assert catalog.measured("gold.v", 1, 1)[0].number == 1


def test_history(catalog: Catalog) -> None:
    known = catalog.add_view(view("gold.v"))
    catalog.open_intent(known.view_id, "gold.v", batch("gold.v", 1), Strategy.FULL, Reason.FIRST_BUILD)
    assert catalog.last_batch("gold.v") is None
    failed = done("gold.v", 1, error="boom")
    success = done("gold.v", 1, predicted_full_seconds=2.0)
    nothing = done("gold.v", 0, to=2, strategy=Strategy.NOOP, reason=Reason.NO_CHANGES)
    catalog.add_batch(failed)
    catalog.add_batch(success, settle="applied")
    assert catalog.open_intents() == ()
    catalog.add_batch(replace(success, rows_changed=0))  # the same batch, recorded by a run that came second
    catalog.add_batch(nothing)
    catalog.add_batch(nothing)
    assert catalog.history("gold.v") == (nothing, nothing, success, failed)
    assert catalog.history("gold.v", 1) == (nothing,)
    assert catalog.last_batch("gold.v") == nothing
    catalog.add_batch(done("gold.v", 2, error="boom"))
    assert catalog.last_batch("gold.v") == nothing


def test_what_batches_took_is_told_of_those_that_were_measured_and_of_either_kind_however_old(catalog: Catalog) -> None:
    known = catalog.add_view(view("gold.v"))
    full = done("gold.v", 1, strategy=Strategy.FULL, reason=Reason.FIRST_BUILD, seconds=5.0)
    later = [done("gold.v", number, to=number) for number in range(2, 7)]
    recovered = done("gold.v", 7, to=7, seconds=0.0)
    failed = done("gold.v", 8, to=8, error="boom")
    nothing = done("gold.v", 0, to=7, strategy=Strategy.NOOP, reason=Reason.NO_CHANGES)
    back = done("gold.v", 9, to=3, strategy=Strategy.REWIND, reason=Reason.REQUESTED)
    for record in (full, *later, recovered, failed, nothing, back):
        if record.number:
            strategy, reason = record.strategy, record.reason
            catalog.open_intent(known.view_id, "gold.v", batch("gold.v", record.number), strategy, reason)
        catalog.add_batch(record, settle="abandoned" if record.error else "applied" if record.number else None)
    assert catalog.measured("gold.v", batches=2, refreshes=1) == (later[4], later[3], full)
    assert catalog.measured("gold.v", batches=9, refreshes=3) == (*reversed(later), full)
    assert catalog.measured("gold.v", batches=1, refreshes=0) == (later[4],)


def test_batch_and_intent_change_together(catalog: Catalog) -> None:
    catalog.add_view(view("gold.v"))
    with pytest.raises(CatalogError, match="never begun"):
        catalog.add_batch(done("gold.v", 1), settle=IntentState.APPLIED)
    assert catalog.history("gold.v") == ()


def test_a_validation_marks_a_view_that_differs_until_one_finds_it_right(catalog: Catalog) -> None:
    catalog.add_view(view("gold.v"))
    right = ValidationRecord("gold.v", 1, True, 0, 0, 10, {"tpch.orders": 1}, 0.5, NOW)
    for ok in (True, False, False, True):
        catalog.add_validation(replace(right, ok=ok))
        assert catalog.view("gold.v").status is (LifeStage.ACTIVE if ok else LifeStage.DRIFTED)
    catalog.remove_view("gold.v")
    catalog.add_validation(replace(right, ok=False))
    assert catalog.views() == ()


def test_validations(catalog: Catalog) -> None:
    catalog.add_view(view("gold.v"))
    good = ValidationRecord("gold.v", 1, True, 0, 0, 10, {"tpch.orders": 1}, 0.5, NOW)
    sample = json.dumps([{"row": {"a": None}, "copies": 2}])
    bad = replace(good, ok=False, missing_count=2**40, full_seconds=1.5, run_id="r", sample=sample)
    assert catalog.last_validation("gold.v") is None
    catalog.add_validation(good)
    catalog.add_validation(bad)
    assert catalog.validations("gold.v") == (bad, good)
    assert catalog.last_validation("gold.v") == bad
    with pytest.raises(UnknownViewError):
        catalog.validations("gold.w")


def test_cuts(catalog: Catalog) -> None:
    cut = Cut((TableVersion("tpch.orders", "a", 3),), NOW)
    fixed = catalog.add_cut("hourly", "run 1", cut)
    assert (fixed.cut, fixed.states, fixed.published_at) == (cut, (), None)
    # A run never changes its cut, so that a retry ends where the first attempt would have.
    assert catalog.add_cut("hourly", "run 1", Cut((TableVersion("tpch.orders", "a", 4),))) == fixed
    assert catalog.latest_cut("hourly") is None
    states = (TableVersion("gold.v", "b", 9),)
    published = catalog.publish_cut("hourly", "run 1", states)
    assert (published.cut, published.states) == (cut, states)
    assert published.published_at is not None
    assert catalog.cut("run 1") == catalog.latest_cut("hourly") == published
    other = catalog.add_cut("daily", "run 1", Cut(()))
    assert catalog.cut("run 1", "daily") == other
    assert catalog.cut("run 1", "hourly") == published
    assert catalog.cut("run 2") is None
    with pytest.raises(CatalogError, match="has no cut"):
        catalog.publish_cut("hourly", "run 2")


def test_activity(catalog: Catalog) -> None:
    catalog.add_view(view("gold.idle"))
    busy = catalog.add_view(view("gold.busy", group="daily"))
    catalog.add_batch(done("gold.busy", 1))
    catalog.add_batch(done("gold.busy", 2, to=2))
    catalog.add_batch(done("gold.busy", 3, to=3, error="boom"))
    intent = catalog.open_intent(busy.view_id, "gold.busy", batch("gold.busy", 1), Strategy.FULL, Reason.REQUESTED)
    checked = ValidationRecord("gold.busy", 2, True, 0, 0, 10, {}, 0.5, NOW)
    catalog.add_validation(checked)
    first, second = catalog.activity()
    assert (first.view, first.open_intent, first.last_validation) == (busy, intent, checked)
    assert first.last_batch == done("gold.busy", 2, to=2, job=None)
    assert first.last_attempt == done("gold.busy", 3, to=3, error="boom", job=None)
    assert (second.view.name, second.last_batch, second.last_attempt) == ("gold.idle", None, None)
    assert catalog.activity(["gold.idle"]) == (second,)
    assert catalog.activity(group="daily") == (first,)
    assert catalog.activity([]) == ()


def test_activity_takes_as_many_statements_for_many_views(catalog: Catalog) -> None:
    seen: list[str] = []
    event.listen(catalog._engine, "before_cursor_execute", lambda *arguments: seen.append(arguments[2]))
    counts = []
    for number in range(3):
        catalog.add_view(view(f"gold.v{number}"))
        catalog.add_batch(done(f"gold.v{number}", 1))
        seen.clear()
        assert len(catalog.activity()) == number + 1
        counts.append(sum(statement.startswith("SELECT") for statement in seen))
    assert counts == [5, 5, 5]


def test_times_come_back_in_utc_and_need_a_zone(catalog: Catalog) -> None:
    india = timezone(timedelta(hours=5, minutes=30))
    catalog.add_view(view("gold.v", created_at=NOW.astimezone(india)))
    read = catalog.view("gold.v").created_at
    assert (read, read.utcoffset()) == (NOW, timedelta(0))
    with pytest.raises(CatalogError, match="a time without zone"):
        catalog.add_view(view("gold.w", created_at=NOW.replace(tzinfo=None)))


@pytest.mark.parametrize("name", ["a.'; DROP TABLE ivm_views; --", 'a."b"', "a.b%20c", "ä.😀", "a.../../etc"])
def test_odd_names_are_only_data(catalog: Catalog, name: str) -> None:
    known = catalog.add_view(view(name, name))
    assert catalog.view(name) == known
    assert catalog.dependants(name) == (name,)
    with catalog.lock(name) as held:
        assert held
    catalog.remove_view(name)
    assert catalog.views() == ()
