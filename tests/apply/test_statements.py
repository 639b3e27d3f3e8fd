"""The statements, run in DuckDB on small states: rewriting a state and merging into it leave the same, right rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from ivm_core.apply import bag, merge_groups, replace_groups
from ivm_core.job.model import Combine, MergeColumn, Write, WriteKind

GROUPS = Write(
    WriteKind.MERGE_GROUPS,
    "batch_rows",
    keys=("k",),
    columns=("k", "n", "total", "low", "high"),
    merge=(
        MergeColumn("n", Combine.ADD, "bigint"),
        MergeColumn("total", Combine.ADD, "decimal(20,2)"),
        MergeColumn("low", Combine.LEAST, "int", "low_deleted"),
        MergeColumn("high", Combine.GREATEST, "int", "high_deleted"),
    ),
    count="n",
)
STATE_TYPES = "k VARCHAR, n BIGINT, total DECIMAL(20,2), low INTEGER, high INTEGER"
BATCH_TYPES = STATE_TYPES + ", low_deleted INTEGER, high_deleted INTEGER"
REPLACED = Write(WriteKind.REPLACE_GROUPS, "batch_rows", keys=("k",), columns=("k", "x"))

Rows = list[tuple[Any, ...]]


@pytest.fixture
def db() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def fill(db: duckdb.DuckDBPyConnection, name: str, types: str, rows: Rows) -> None:
    db.execute(f"CREATE OR REPLACE TABLE {name} ({types})")
    for row in rows:
        db.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)


def run(db: duckdb.DuckDBPyConnection, statement: exp.Expr) -> Rows:
    """Spark's spelling of a few functions in DuckDB's."""

    def respell(node: exp.Expr) -> exp.Expr:
        match node:
            case exp.Anonymous(this="raise_error"):
                return exp.Anonymous(this="error", expressions=node.expressions)
            case exp.Anonymous(this="explode"):
                return exp.Anonymous(this="unnest", expressions=node.expressions)
            case exp.Anonymous(this="sequence"):
                return exp.Anonymous(this="generate_series", expressions=node.expressions)
            case exp.Anonymous(this="monotonically_increasing_id"):
                return exp.Window(this=exp.RowNumber())
            case exp.EQ() if isinstance(node.parent, exp.Update):
                return exp.EQ(this=exp.to_identifier(node.this.name), expression=node.expression)
        return node

    return db.execute(statement.transform(respell).sql("duckdb")).fetchall()


def rows_of(db: duckdb.DuckDBPyConnection, name: str) -> Counter[Any]:
    return Counter(db.execute(f"SELECT * FROM {name}").fetchall())


values = st.lists(st.tuples(st.sampled_from([None, "a", "b", "c"]), st.sampled_from([None, 1, 2, 5])), max_size=8)


def aggregated(db: duckdb.DuckDBPyConnection, source: str) -> str:
    return (
        f"SELECT k, COUNT(*) AS n, CAST(COALESCE(SUM(x), 0) AS DECIMAL(20,2)) AS total, MIN(x) AS low, MAX(x) AS high "
        f"FROM {source} GROUP BY k"
    )


@settings(deadline=None, max_examples=150)
@given(before=values, added=values, kept=st.lists(st.booleans(), min_size=8, max_size=8), merged=st.booleans())
def test_groups_end_where_the_aggregate_ends(before: Rows, added: Rows, kept: list[bool], merged: bool) -> None:
    removed = [row for row, keep in zip(before, kept, strict=False) if not keep]
    after = [row for row, keep in zip(before, kept, strict=False) if keep] + added
    with duckdb.connect() as db:
        fill(db, "base_before", "k VARCHAR, x INTEGER", before)
        fill(db, "base_after", "k VARCHAR, x INTEGER", after)
        fill(db, "changes", "k VARCHAR, x INTEGER, w INTEGER", [(*r, 1) for r in added] + [(*r, -1) for r in removed])
        db.execute(f"CREATE TABLE state AS {aggregated(db, 'base_before')}")
        db.execute(
            "CREATE TABLE batch_rows AS SELECT k, CAST(SUM(w) AS BIGINT) AS n, "
            "CAST(COALESCE(SUM(x * w), 0) AS DECIMAL(20,2)) AS total, MIN(x) FILTER (w > 0) AS low, "
            "MAX(x) FILTER (w > 0) AS high, MIN(x) FILTER (w < 0) AS low_deleted, MAX(x) FILTER (w < 0) AS high_deleted "
            "FROM changes GROUP BY k"
        )
        keys = run(db, merge_groups.lost_extremes(GROUPS, "state", "batch_rows"))
        fill(db, "wanted", "k VARCHAR", keys)
        db.execute(
            f"CREATE TABLE again AS SELECT * FROM ({aggregated(db, 'base_after')}) AS g WHERE EXISTS "
            "(SELECT 1 FROM wanted WHERE wanted.k IS NOT DISTINCT FROM g.k)"
        )
        recomputed = "again" if keys else None
        if merged:
            source = "batch_rows"
            if recomputed:
                query = merge_groups.source_with_replaced(GROUPS, "batch_rows", recomputed)
                db.execute(f"CREATE TABLE source AS {query.sql('duckdb')}")
                source = "source"
            target = exp.to_table("state")
            run(db, merge_groups.merge_into_state(GROUPS, target, source, with_replaced=recomputed is not None))
            found = rows_of(db, "state")
        else:
            found = Counter(run(db, merge_groups.rewrite_state(GROUPS, "state", "batch_rows", recomputed)))
        assert found == Counter(db.execute(aggregated(db, "base_after")).fetchall())


def test_no_group_is_recomputed_without_need(db: duckdb.DuckDBPyConnection) -> None:
    fill(
        db,
        "state",
        STATE_TYPES,
        [("inner", 3, 9, 1, 5), ("lowest", 3, 9, 1, 5), ("gone", 1, 1, 1, 1), (None, 2, 3, 1, 2)],
    )
    fill(
        db,
        "batch_rows",
        BATCH_TYPES,
        [
            ("inner", -1, -3, None, None, 3, 3),
            ("lowest", -1, -1, None, None, 1, 1),
            ("gone", -1, -1, None, None, 1, 1),
            (None, -1, -2, None, None, 2, 2),
        ],
    )
    assert Counter(run(db, merge_groups.lost_extremes(GROUPS, "state", "batch_rows"))) == Counter(
        [("lowest",), (None,)]
    )


IMPOSSIBLE = [
    ("a negative count", ("a", -2, -2, None, None, 5, 5), "lost more rows"),
    ("a sum without rows", ("a", -1, -7, None, None, None, None), "sum left over"),
    ("a group that was never there", ("b", -1, -1, None, None, None, None), "lost more rows"),
    ("a sum of a group that was never there", ("b", 0, 3, None, None, None, None), "sum left over"),
]


@pytest.mark.parametrize("merged", [False, True], ids=["rewritten", "merged"])
@pytest.mark.parametrize(("name", "row", "message"), IMPOSSIBLE, ids=[case[0] for case in IMPOSSIBLE])
def test_an_impossible_state_fails(
    db: duckdb.DuckDBPyConnection, name: str, row: tuple[Any, ...], message: str, merged: bool
) -> None:
    fill(db, "state", STATE_TYPES, [("a", 1, 1, 1, 1)])
    fill(db, "batch_rows", BATCH_TYPES, [row])
    statement: exp.Expr = (
        merge_groups.merge_into_state(GROUPS, exp.to_table("state"), "batch_rows")
        if merged
        else merge_groups.rewrite_state(GROUPS, "state", "batch_rows")
    )
    with pytest.raises(duckdb.Error, match=f"IVM_DRIFT: .*{message}"):
        run(db, statement)
    assert rows_of(db, "state") == Counter([("a", 1, 1, 1, 1)])


@pytest.mark.parametrize("merged", [False, True], ids=["rewritten", "merged"])
def test_one_group_without_keys_stays(db: duckdb.DuckDBPyConnection, merged: bool) -> None:
    write = Write(
        WriteKind.MERGE_GROUPS, "batch_rows", columns=("n",), merge=(MergeColumn("n", Combine.ADD, "bigint"),),
        count="n", keep_empty=True,
    )  # fmt: skip
    fill(db, "state", "n BIGINT", [(3,)])
    fill(db, "batch_rows", "n BIGINT", [(-3,)])
    if merged:
        run(db, merge_groups.merge_into_state(write, exp.to_table("state"), "batch_rows"))
        assert rows_of(db, "state") == Counter([(0,)])
    else:
        assert run(db, merge_groups.rewrite_state(write, "state", "batch_rows")) == [(0,)]


@pytest.mark.parametrize("merged", [False, True], ids=["rewritten", "merged"])
def test_touched_groups_are_replaced(db: duckdb.DuckDBPyConnection, merged: bool) -> None:
    fill(db, "state", "k VARCHAR, x INTEGER", [("a", 1), ("b", 2), (None, 3), ("left", 4)])
    fill(
        db,
        "batch_rows",
        "k VARCHAR, x INTEGER, __ivm_vanished BOOLEAN",
        [("a", 10, False), ("b", None, True), (None, 30, False), ("new", 5, False), ("never there", None, True)],
    )
    expected = Counter([("a", 10), (None, 30), ("left", 4), ("new", 5)])
    if merged:
        run(db, replace_groups.merge_into_state(REPLACED, exp.to_table("state"), "batch_rows", {"x": "int"}))
        assert rows_of(db, "state") == expected
    else:
        assert Counter(run(db, replace_groups.rewrite_state(REPLACED, "state", "batch_rows"))) == expected


def test_a_key_alone_can_be_replaced(db: duckdb.DuckDBPyConnection) -> None:
    write = Write(WriteKind.REPLACE_GROUPS, "batch_rows", keys=("k",), columns=("k",))
    fill(db, "state", "k VARCHAR", [("a",), ("b",)])
    fill(db, "batch_rows", "k VARCHAR, __ivm_vanished BOOLEAN", [("a", True), ("b", False), ("c", False)])
    run(db, replace_groups.merge_into_state(write, exp.to_table("state"), "batch_rows", {}))
    assert rows_of(db, "state") == Counter([("b",), ("c",)])


BAG_TYPES = "k VARCHAR, x INTEGER, __ivm_batch BIGINT, __ivm_row BIGINT"
weighted = st.dictionaries(
    st.tuples(st.sampled_from([None, "a", "b"]), st.sampled_from([None, 1])),
    st.integers(-3, 3).filter(bool),
    max_size=6,
)


@settings(deadline=None, max_examples=150)
@given(
    before=st.lists(st.tuples(st.sampled_from([None, "a", "b"]), st.sampled_from([None, 1])), max_size=8),
    delta=weighted,
)
def test_a_bag_ends_with_the_sum(before: Rows, delta: dict[tuple[Any, ...], int]) -> None:
    columns = ("k", "x")
    expected = Counter(before)
    expected.update(delta)
    possible = all(copies >= 0 for copies in expected.values())
    with duckdb.connect() as db:
        fill(db, "state", BAG_TYPES, [(*row, 1, number) for number, row in enumerate(before)])
        fill(db, "batch_rows", "k VARCHAR, x INTEGER, __ivm_weight BIGINT", [(*row, w) for row, w in delta.items()])
        rewritten = bag.rewrite_state(columns, "state", "batch_rows", 2)
        if not possible:
            with pytest.raises(duckdb.Error, match="IVM_DRIFT"):
                run(db, rewritten)
        else:
            rows = run(db, rewritten)
            assert Counter(row[:2] for row in rows) == +expected
            assert len({row[2:] for row in rows}) == len(rows)
        found = run(db, bag.victims(columns, "state", "batch_rows"))
        needed = -sum(w for w in delta.values() if w < 0)
        assert (len(found) == needed) is possible
        if possible:
            fill(db, "victims", "__ivm_batch BIGINT, __ivm_row BIGINT", found)
            fill(
                db,
                "source",
                BAG_TYPES + ", __ivm_is_new BOOLEAN",
                run(db, bag.source_of_merge(columns, "batch_rows", "victims", 2)),
            )
            run(db, bag.merge_into_state(columns, exp.to_table("state"), "source"))
            stored = db.execute("SELECT k, x, __ivm_batch, __ivm_row FROM state").fetchall()
            assert Counter(row[:2] for row in stored) == +expected
            assert len({row[2:] for row in stored}) == len(stored)


def test_copies_are_repeated(db: duckdb.DuckDBPyConnection) -> None:
    fill(db, "batch_rows", "k VARCHAR, __ivm_weight BIGINT", [("a", 3), ("b", 1)])
    rows = run(db, bag.repeat_rows(("k",), "batch_rows", 7))
    assert Counter(row[0] for row in rows) == Counter({"a": 3, "b": 1})
    assert {row[1] for row in rows} == {7}
    assert len({row[2] for row in rows}) == 4
