"""Views over tables that count as large: chains are cut, what terms need is read in slices shared by all views, and what is
needed of a table before and after the batch is read once."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.engine import both_states, inputs, key_rows, queries, slices, snapshots
from ivm_core.job import chains
from ivm_core.job.model import Slice
from ivm_core.settings import Settings
from tests.bags import difference
from tests.maintain.cases import CASES
from tests.maintain.database import (
    FEED,
    Database,
    check_views,
    create_views,
    first_mix,
    groups_vanish_and_tables_are_replaced,
)

pytestmark = pytest.mark.spark

NAMES = (
    "key_not_selected", "inner_join", "three_way_join", "self_join", "null_safe_join", "cte_twice", "distinct_join",
    "left_join", "full_join", "not_exists",
)  # fmt: skip
BY_KEY = (
    "count_distinct", "window", "nested_aggregate", "intersect", "except_all", "not_in", "left_join", "below_average",
)  # fmt: skip


@pytest.fixture(scope="module")
def small_is_large():
    with pytest.MonkeyPatch.context() as patch:
        for module in (chains, slices, both_states, inputs):
            patch.setattr(module, "LARGE", 0)
        patch.setattr(queries, "IN_PLANS", 2)
        patch.setattr(chains, "FEWER", 0)  # keys are narrowed by any filtered table
        patch.setattr(snapshots, "IN_MEMORY", -1)
        patch.setattr(key_rows, "CAP", 2)
        yield patch


@pytest.fixture(scope="module")
def database(spark):
    return Database(spark, "large", seed=7)


@pytest.fixture(scope="module")
def engine(spark, database, small_is_large, tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    with Engine.open(spark=spark, catalog=f"sqlite:///{folder}/ivm.db", warehouse=folder / "warehouse") as opened:
        opened.register_table("large.fact", primary_key=["id"])
        create_views(opened, "l", {name: query(name) for name in NAMES})
        yield opened


def query(name: str, schema: str = "large") -> str:
    return next(case for case in CASES if case.name == name).over(schema)


@pytest.mark.parametrize(
    ("change", "sliced"),
    [
        (first_mix, {"large.fact", "large.dim"}),
        pytest.param(
            groups_vanish_and_tables_are_replaced, {"large.fact", "large.dim", "large.other"}, marks=pytest.mark.slow
        ),
    ],
)
def test_slices_leave_no_row_out(engine, spark, database, monkeypatch, change, sliced):
    found, find = [], slices.Slices.find

    def counted(self, relation, *asked, **options):
        frame = find(self, relation, *asked, **options)
        found.append((relation.name, frame is not None))
        return frame

    monkeypatch.setattr(slices.Slices, "find", counted)
    change(database)
    reports = engine.maintain()
    assert {report.strategy for report in reports} <= {"incremental", "affected", "noop"}
    check_views(engine, "l", {name: query(name) for name in NAMES})
    # Most reads are served by a slice, of the tables that several views join.
    assert {name for name, served in found if served} == sliced
    assert sum(served for _, served in found) > len(found) / 2


PRUNED = {
    "both": "SELECT r.x AS y, s.v FROM {s}.r JOIN {s}.s ON r.k = s.k UNION ALL SELECT size(r.l), s.v FROM {s}.r JOIN {s}.s ON r.k = s.k",
    "one": "SELECT r.x, s.v FROM {s}.r JOIN {s}.s ON r.k = s.k",
    "other": "SELECT r.l, s.v FROM {s}.r JOIN {s}.s ON r.k = s.k",
}


def test_changes_of_some_columns_prune_by_their_own_keys(spark, small_is_large, schema, tmp_path):
    """Spark holds changes with arrays, and what they are netted to for some columns are not the rows of other columns."""
    spark.sql(f"CREATE TABLE {schema}.r (k INT, x INT, l ARRAY<INT>) USING DELTA {FEED}").collect()
    spark.sql(f"CREATE TABLE {schema}.s (k INT, v INT) USING DELTA {FEED}").collect()
    spark.sql(f"INSERT INTO {schema}.r SELECT id, 0, array(1) FROM range(1, 4)").collect()
    spark.sql(f"INSERT INTO {schema}.s SELECT id, id * 10 FROM range(1, 300)").collect()
    queries = {name: query.format(s=schema) for name, query in PRUNED.items()}
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
        create_views(engine, schema, queries)
        for changes in (
            ("l = array(1, 2) WHERE k = 1", "x = 5 WHERE k = 2"),
            ("x = 6 WHERE k = 1", "l = array() WHERE k = 3"),
        ):
            for change in changes:
                spark.sql(f"UPDATE {schema}.r SET {change}").collect()
            engine.maintain()
            check_views(engine, schema, queries, str(changes))


KEY_TYPES = ("INT", "BIGINT", "SMALLINT", "STRING", "DECIMAL(10,1)", "DECIMAL(12,3)", "DOUBLE", "TIMESTAMP", "DATE")
KEY_PAIRS = (
    ("BIGINT", "STRING"), ("DECIMAL(10,1)", "DECIMAL(12,3)"), ("DATE", "TIMESTAMP"), ("INT", "BIGINT"),
    ("BIGINT", "SMALLINT"), ("DOUBLE", "DOUBLE"),
)  # fmt: skip


@pytest.mark.parametrize(
    "pairs", [pytest.param(KEY_PAIRS[:3], id="some"), pytest.param(KEY_PAIRS, id="all", marks=pytest.mark.slow)]
)
def test_keys_of_other_types_find_the_same_rows(spark, small_is_large, tmp_path, monkeypatch, pairs):
    spark.sql("DROP SCHEMA IF EXISTS large_typed CASCADE")
    spark.sql("CREATE SCHEMA large_typed")
    columns = [f"k{number}" for number, _ in enumerate(KEY_TYPES)]
    for table in ("one", "two"):
        typed = ", ".join(f"{name} {type_}" for name, type_ in zip(columns, KEY_TYPES, strict=True))
        spark.sql(f"CREATE TABLE large_typed.{table} (id INT, {typed}) USING DELTA {FEED}").collect()

    def insert(table: str, *ids: int) -> None:
        rows = []
        for id_ in ids:
            n = id_ % 4
            values = dict.fromkeys(KEY_TYPES, str(n)) | {"TIMESTAMP": f"2024-01-0{n + 1}", "DATE": f"2024-01-0{n + 1}"}
            if id_ % 7 == 0:
                values |= {"BIGINT": "3000000000", "DOUBLE": "-0.0"}  # more than an INT holds; equal to 0.0
            typed = (f"CAST({repr(values[type_]) if id_ % 5 else 'NULL'} AS {type_})" for type_ in KEY_TYPES)
            rows.append(f"({id_}, {', '.join(typed)})")
        spark.sql(f"INSERT INTO large_typed.{table} VALUES {', '.join(rows)}").collect()

    for table in ("one", "two"):
        insert(table, *range(12))
    queries = {}
    for number, (own, other) in enumerate(pairs):
        on = f"b.k{KEY_TYPES.index(other)} = a.k{KEY_TYPES.index(own)}"
        queries[f"missing_{number}"] = (
            f"SELECT a.id FROM large_typed.one a WHERE NOT EXISTS (SELECT 1 FROM large_typed.two b WHERE {on})"
        )
    queries["left"] = "SELECT a.id, b.id AS i FROM large_typed.one a LEFT JOIN large_typed.two b ON a.k3 = b.k0"
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as engine:
        create_views(engine, "t", queries)
        for table in ("one", "two"):
            spark.sql(f"DELETE FROM large_typed.{table} WHERE id % 4 = 2").collect()
            insert(table, 12, 13, 14, 15)
        for spark_looks_up in (False, True):
            if spark_looks_up:
                monkeypatch.setattr(snapshots, "tasks_run_here", lambda _: False)
                for table in ("one", "two"):
                    spark.sql(f"DELETE FROM large_typed.{table} WHERE id % 5 = 3").collect()
                    insert(table, 16, 17, 18, 19, 20)
            reports = engine.maintain()
            assert {report.strategy for report in reports} <= {"incremental", "affected", "noop"}
            check_views(engine, "t", queries)


def test_rows_that_lie_in_some_of_the_files(spark, small_is_large, tmp_path, monkeypatch):
    monkeypatch.setattr(queries, "IN_PLANS", 5_000)
    spark.sql("CREATE SCHEMA large_files")
    spark.sql(f"CREATE TABLE large_files.lines (k INT, v INT) USING DELTA {FEED}").collect()
    spark.sql(f"CREATE TABLE large_files.keys (k INT, name STRING) USING DELTA {FEED}").collect()
    for file in range(6):  # their ranges overlap, so that statistics leave none out
        spark.sql(f"INSERT INTO large_files.lines SELECT id * 6 + {file}, id FROM range(20)").collect()
    texts = {
        "lines": "SELECT l.k, l.v, k.name FROM large_files.keys k JOIN large_files.lines l ON l.k = k.k",
        "least": "SELECT l.k, l.v FROM large_files.lines l JOIN large_files.keys k ON l.k = k.k "
        "WHERE l.v > (SELECT avg(m.v) - 10 FROM large_files.lines m WHERE m.k % 6 = l.k % 6)",
    }
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as engine:
        create_views(engine, "f", texts)
        for change in (
            "INSERT INTO large_files.keys VALUES (48, 'a'), (51, 'b'), (60, 'c'), (65, 'd'), (71, 'e')",
            "INSERT INTO large_files.lines VALUES (48, 1), (65, 2), (66, 3)",
            "DELETE FROM large_files.lines WHERE k IN (51, 71, 72)",
        ):
            spark.sql(change).collect()
            assert {report.strategy for report in engine.maintain()} <= {"incremental", "affected", "noop"}
            check_views(engine, "f", texts)


@pytest.mark.parametrize(
    "names", [pytest.param(BY_KEY[1::2], id="some"), pytest.param(BY_KEY, id="all", marks=pytest.mark.slow)]
)
def test_a_table_is_read_once_for_both_of_its_states(spark, small_is_large, tmp_path, monkeypatch, names):
    schema = f"large_twice_{len(names)}"
    database = Database(spark, schema, seed=11)
    served, find = [], both_states.BothStates.find

    def counted(self, item, *asked):
        frame = find(self, item, *asked)
        if frame is not None:
            served.append((item.table, item.slice))
        return frame

    monkeypatch.setattr(both_states.BothStates, "find", counted)
    texts = {name: query(name, schema) for name in names}
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as engine:
        create_views(engine, "t", texts)
        for change in (first_mix, groups_vanish_and_tables_are_replaced):
            change(database)
            # The first batch's rows are looked up by this process, the second one's by Spark.
            monkeypatch.setattr(snapshots, "tasks_run_here", lambda _, here=change is first_mix: here)
            reports = engine.maintain()
            assert {report.strategy for report in reports} <= {"incremental", "affected", "noop"}
            check_views(engine, "t", texts)
    assert {slice_ for _, slice_ in served} == {Slice.BEFORE, Slice.AFTER}


def test_rows_met_by_several_columns_are_looked_up_by_one(spark, small_is_large, tmp_path, monkeypatch):
    looked_up, narrowed = inputs.looked_up, []

    def counted(session, frame, *asked):
        found = looked_up(session, frame, *asked)
        narrowed.append(found is not frame)
        return found

    monkeypatch.setattr(inputs, "looked_up", counted)
    monkeypatch.setattr(snapshots, "tasks_run_here", lambda _: False)  # where Spark does it
    spark.sql("CREATE SCHEMA large_pairs")
    for table in ("lines", "stocks"):
        spark.sql(f"CREATE TABLE large_pairs.{table} (part BIGINT, supplier INT, n INT) USING DELTA {FEED}").collect()
    spark.sql("INSERT INTO large_pairs.stocks SELECT id, id % 7, id FROM range(60)").collect()
    spark.sql("INSERT INTO large_pairs.lines SELECT id, id % 7, id FROM range(0, 60, 5)").collect()
    text = (
        "SELECT l.part, l.n, s.n AS stock FROM large_pairs.lines l"
        " JOIN large_pairs.stocks s ON s.part = l.part AND s.supplier = l.supplier"
    )
    settings = Settings.load(
        catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=str(tmp_path / "warehouse"), limits={"pushdown_cap": 1}
    )
    with Engine.open(spark=spark, settings=settings) as engine:
        create_views(engine, "t", {"pairs": text})
        spark.sql("INSERT INTO large_pairs.lines VALUES (3, 3, 1), (58, 2, 2), (58, 3, 3), (NULL, 2, 4)").collect()
        assert [report.strategy for report in engine.maintain()] == ["incremental"]
        assert not difference(engine.read("t.pairs"), spark.sql(text))
    assert any(narrowed)
