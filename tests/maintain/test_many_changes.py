"""Batches of more changed rows than this process holds: Spark keeps what is large, and this process what is left of it."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.engine import changes, execute, feed_files, slices, small, split_state, write, write_bag
from tests.maintain.cases import CASES
from tests.maintain.database import (
    Database,
    check_views,
    create_views,
    first_mix,
    groups_vanish_and_tables_are_replaced,
)

pytestmark = pytest.mark.spark

SOME = ("not_exists", "window", "count_distinct", "left_join", "nested_aggregate", "except_all")
VIEWS = [
    pytest.param(SOME, id="some"),
    pytest.param(tuple(case.name for case in CASES), id="all", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("names", VIEWS)
def test_views_follow_more_changes_than_this_process_holds(spark, tmp_path, monkeypatch, names):
    for module in (changes, execute, feed_files, slices, small, split_state, write, write_bag):
        monkeypatch.setattr(module, "HERE", 4)
    held, hold = [], small.held
    monkeypatch.setattr(small, "held", lambda session, rows: held.append(rows.num_rows) or hold(session, rows))
    kept, keep = [], small.keep
    monkeypatch.setattr(small, "keep", lambda frame: kept.append(keep(frame)) or kept[-1])
    schema = f"many_{len(names)}"
    database = Database(spark, schema, seed=5)
    queries = {case.name: case.over(schema) for case in CASES if case.name in names}
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as engine:
        engine.register_table(f"{schema}.fact", primary_key=["id"])
        create_views(engine, "m", queries)
        for change in (first_mix, groups_vanish_and_tables_are_replaced):
            held.clear()
            kept.clear()
            change(database)
            engine.maintain()
            check_views(engine, "m", queries)
            assert held and max(held) <= 4
            assert any(relation.rows > 4 for relation in kept)
