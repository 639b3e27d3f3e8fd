"""Chains of joins: from the changes outwards, along keys, and cut before large tables."""

from __future__ import annotations

import pytest
import sqlglot

from ivm_core.cost.model import Reason, Strategy
from ivm_core.job.build import batch_job
from ivm_core.job.compile import compile_view
from ivm_core.job.facts import LARGE, TableFacts
from ivm_core.job.model import MaintenanceJob, Slice
from ivm_core.plan.schema import TableSchema

TABLES = {
    "s.customer": TableSchema("s.customer", (("c", "bigint"), ("nation", "bigint")), ("c",)),
    "s.orders": TableSchema("s.orders", (("o", "bigint"), ("o_c", "bigint")), ("o",)),
    "s.line": TableSchema("s.line", (("l_o", "bigint"), ("l_s", "bigint"), ("price", "decimal(15,2)")), ()),
    "s.supplier": TableSchema("s.supplier", (("s", "bigint"), ("s_nation", "bigint")), ("s",)),
}
QUERY = (
    "SELECT s.s, sum(l.price) AS total FROM s.customer c JOIN s.orders o ON c.c = o.o_c JOIN s.line l ON l.l_o = o.o "
    "JOIN s.supplier s ON l.l_s = s.s AND c.nation = s.s_nation GROUP BY s.s"
)
FACTS = {
    "s.customer": TableFacts(100_000, ("c",)),
    "s.orders": TableFacts(LARGE * 2, ("o",)),
    "s.line": TableFacts(LARGE * 8, ()),
    "s.supplier": TableFacts(10_000, ("s",)),
}


def job(changed: str, facts: dict[str, TableFacts] | None = FACTS) -> MaintenanceJob:
    view = compile_view("v", sqlglot.parse_one(QUERY, read="spark"), TABLES)
    return batch_job(view, frozenset({f"s.{changed}"}), Strategy.INCREMENTAL, Reason.LINEAR, facts)


def order(sql: str) -> list[str]:
    """The relations of a step's joins from left to right."""
    return [table.name for table in sqlglot.parse_one(sql, read="spark").find_all(sqlglot.exp.Table)]


def test_a_prefix_becomes_a_step_before_a_large_table() -> None:
    steps = {step.name: step for step in job("customer").steps}
    assert list(steps) == ["group_changes_chain_1", "group_changes"]
    assert sorted(order(steps["group_changes_chain_1"].sql)) == ["s_customer_changes", "s_orders_after"]
    assert steps["group_changes_chain_1"].materialize


def test_the_large_table_is_bounded_by_the_steps_values() -> None:
    found = job("customer")
    [line] = [item for item in found.inputs if item.table == "s.line"]
    assert ("l_o", "group_changes_chain_1", "o") in [(b.column, b.step, b.step_column) for b in line.bounds]


def test_the_order_follows_keys_and_not_the_query() -> None:
    # By nation a supplier meets many customers; by its lines it meets the orders that it has.
    steps = job("supplier").steps
    assert sorted(order(steps[0].sql)) == ["s_line_after", "s_supplier_changes"]


def test_small_tables_are_joined_without_a_step() -> None:
    small = {name: TableFacts(10, facts.key) for name, facts in FACTS.items()}
    assert [step.name for step in job("customer", small).steps] == ["group_changes"]


def test_nothing_known_means_one_query() -> None:
    assert [step.name for step in job("customer", None).steps] == ["group_changes"]


def test_a_table_of_unknown_size_is_taken_as_large() -> None:
    unknown = {name: TableFacts(None, facts.key) for name, facts in FACTS.items()}
    assert len(job("customer", unknown).steps) > 1


def test_every_input_is_read_by_a_step() -> None:
    for changed in ("customer", "orders", "line", "supplier"):
        found = job(changed)
        read = {name for step in found.steps for name in order(step.sql)}
        assert {item.name for item in found.inputs} <= read
        assert [item.table for item in found.inputs if item.slice is Slice.CHANGES] == [f"s.{changed}"]


def test_all_terms_but_its_own_read_the_largest_table_after_the_batch() -> None:
    view = compile_view("v", sqlglot.parse_one(QUERY, read="spark"), TABLES)
    found = batch_job(view, frozenset(TABLES), Strategy.INCREMENTAL, Reason.LINEAR, FACTS)
    assert {item.slice for item in found.inputs if item.table == "s.line"} == {Slice.CHANGES, Slice.AFTER}
    assert {item.slice for item in found.inputs if item.table == "s.supplier"} >= {Slice.BEFORE}


@pytest.mark.parametrize(
    ("condition", "prefixes"),
    (("c.nation > 0", []), ("o.o > 0 AND s.s = c.nation", [["s_customer_after", "view_changes_part_1"]])),
)
def test_rows_are_not_fewer_by_a_condition_without_the_changed_table(condition: str, prefixes: list[list[str]]) -> None:
    query = (
        f"SELECT o.o, c.c, s.s FROM s.orders o JOIN s.customer c ON o.o_c = c.c LEFT JOIN s.supplier s ON {condition}"
    )
    view = compile_view("v", sqlglot.parse_one(query, read="spark"), TABLES)
    found = batch_job(view, frozenset({"s.supplier"}), Strategy.INCREMENTAL, Reason.LINEAR, FACTS)
    assert [sorted(order(step.sql)) for step in found.steps if "chain" in step.name] == prefixes


def test_a_wide_table_is_not_shuffled() -> None:
    wide = tuple((f"text_{n}", "string") for n in range(20))
    tables = TABLES | {"s.customer": TableSchema("s.customer", (("c", "bigint"), *wide), ("c",))}
    query = f"SELECT o.o, {', '.join(name for name, _ in wide)} FROM s.orders o JOIN s.line l ON l.l_o = o.o JOIN s.customer c ON c.c = o.o_c"
    view = compile_view("v", sqlglot.parse_one(query, read="spark"), tables)
    found = batch_job(view, frozenset({"s.line"}), Strategy.INCREMENTAL, Reason.LINEAR, FACTS)
    # 100,000 customers are few rows, but more bytes than Spark broadcasts: the lines joined so far are.
    [last] = [step for step in found.steps if "s_customer_after" in step.sql]
    assert "view_changes_chain_1" in order(last.sql)
    narrow = batch_job(
        view, frozenset({"s.line"}), Strategy.INCREMENTAL, Reason.LINEAR, FACTS | {"s.customer": TableFacts(9, ("c",))}
    )
    assert [step.name for step in narrow.steps] == ["view_changes"]


LARGE_BESIDE = {
    "IN over groups": "SELECT o.o FROM s.orders o JOIN s.customer c ON c.c = o.o_c "
    "WHERE o.o IN (SELECT l_o FROM s.line GROUP BY l_o HAVING sum(price) > 300)",
    "NOT EXISTS": "SELECT o.o FROM s.orders o WHERE NOT EXISTS (SELECT 1 FROM s.line l WHERE l.l_o = o.o)",
    "scalar subquery": "SELECT o.o, (SELECT sum(price) FROM s.line l WHERE l.l_o = o.o) AS total FROM s.orders o",
    "join with groups": "SELECT o.o, g.total FROM s.orders o "
    "JOIN (SELECT l_o, sum(price) AS total FROM s.line GROUP BY l_o) g ON g.l_o = o.o",
    "left join with DISTINCT": "SELECT o.o, d.l_s FROM s.orders o LEFT JOIN (SELECT DISTINCT l_o, l_s FROM s.line) d ON d.l_o = o.o",
    "left join with a window": "SELECT o.o, w.p FROM s.orders o "
    "LEFT JOIN (SELECT l_o, rank() OVER (PARTITION BY l_o ORDER BY price) AS p FROM s.line) w ON w.l_o = o.o",
    "two changed factors": "SELECT x.o FROM (SELECT o.o FROM s.orders o UNION ALL SELECT c.c FROM s.customer c) x "
    "LEFT JOIN (SELECT l_o, count(*) AS n FROM s.line GROUP BY l_o) g ON g.l_o = x.o WHERE g.n IS NULL OR g.n > 1",
}


@pytest.mark.parametrize("name", LARGE_BESIDE)
def test_a_large_table_beside_changes_is_read_by_their_keys_only(name: str) -> None:
    view = compile_view("v", sqlglot.parse_one(LARGE_BESIDE[name], read="spark"), TABLES)
    changed = frozenset({"s.orders", "s.customer"} & set(view.tables))
    found = batch_job(view, changed, Strategy.INCREMENTAL, Reason.LINEAR, FACTS)
    lines = [item for item in found.inputs if item.table == "s.line"]
    assert lines and all("l_o" in {bound.column for bound in item.bounds} for item in lines)
    # A bound may be a range of keys: what is grouped are the rows of the keys themselves.
    for step in found.steps:
        for scan in sqlglot.parse_one(step.sql, read="spark").find_all(sqlglot.exp.Table):
            if scan.name in {item.name for item in lines}:
                select = scan.find_ancestor(sqlglot.exp.Select)
                assert [join for join in select.args.get("joins") or () if join.args.get("kind") == "SEMI"], step.sql


@pytest.mark.parametrize(
    ("where", "suppliers", "narrowed"),
    [("AND s.s_nation = 3", 10_000, True), ("", 10_000, False), ("AND s.s_nation = 3", LARGE * 8, False)],
)
def test_groups_are_computed_for_those_keys_only_that_a_filtered_table_has(
    where: str, suppliers: int, narrowed: bool
) -> None:
    query = (
        "SELECT s.s, l.price FROM s.line l JOIN s.supplier s ON l.l_s = s.s "
        f"WHERE l.price < (SELECT avg(m.price) FROM s.line m WHERE m.l_s = s.s) {where}"
    )
    view = compile_view("v", sqlglot.parse_one(query, read="spark"), TABLES)
    facts = FACTS | {"s.supplier": TableFacts(suppliers, ("s",))}
    found = batch_job(view, frozenset({"s.line"}), Strategy.INCREMENTAL, Reason.LINEAR, facts)
    steps = [step for step in found.steps if "to leave out keys that meet nothing of s.supplier" in step.comment]
    assert len(steps) == narrowed
    for step in steps:
        assert "s_nation = 3" in step.sql
        read = {item.slice for item in found.inputs for bound in item.bounds if bound.step == step.name}
        assert read == {Slice.BEFORE, Slice.AFTER}


def test_groups_beside_a_step_are_computed_for_its_rows_only() -> None:
    # TPC-H Q20's shape: of the suppliers that a batch touches, the groups of those parts only that the filter leaves.
    query = (
        "SELECT s.s FROM s.supplier s WHERE s.s IN (SELECT p.s FROM s.stock p JOIN (SELECT l_p, l_s, sum(price) AS total "
        "FROM s.line GROUP BY l_p, l_s) g ON g.l_p = p.p AND g.l_s = p.s AND p.n > g.total WHERE p.n > 5)"
    )
    line = TableSchema("s.line", (("l_p", "bigint"), ("l_s", "bigint"), ("price", "decimal(15,2)")), ())
    stock = TableSchema("s.stock", (("p", "bigint"), ("s", "bigint"), ("n", "int")), ("p", "s"))
    view = compile_view("v", sqlglot.parse_one(query, read="spark"), TABLES | {"s.line": line, "s.stock": stock})
    facts = FACTS | {"s.stock": TableFacts(LARGE, ("p", "s"))}
    found = batch_job(view, frozenset({"s.line"}), Strategy.AFFECTED, Reason.AFFECTED_KEYS, facts)
    lines = [item for item in found.inputs if item.table == "s.line" and item.slice is not Slice.CHANGES]
    assert lines and all({bound.column for bound in item.bounds} == {"l_p", "l_s"} for item in lines)
