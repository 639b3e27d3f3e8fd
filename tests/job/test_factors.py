"""What all terms of a delta join is joined once: fewer reads and joins, the same rows (those in test_identities)."""

from __future__ import annotations

import pytest
import sqlglot

from ivm_core.cost.model import Reason, Strategy
from ivm_core.job.build import batch_job
from ivm_core.job.compile import compile_view
from ivm_core.job.factors import factor_terms
from ivm_core.job.facts import TableFacts
from ivm_core.job.model import MaintenanceJob
from ivm_core.plan.join_chain import join_all
from ivm_core.plan.nodes import WEIGHT, At, Changes, Plan, Project, Scan, ScanColumn, UnionAll, keep
from ivm_core.plan.schema import TableSchema

TABLES = {
    "s.customer": TableSchema("s.customer", (("c", "bigint"), ("nation", "bigint")), ("c",)),
    "s.orders": TableSchema("s.orders", (("o", "bigint"), ("o_c", "bigint")), ("o",)),
    "s.line": TableSchema("s.line", (("l_o", "bigint"), ("l_p", "bigint"), ("price", "decimal(15,2)")), ()),
    "s.part": TableSchema("s.part", (("p", "bigint"), ("color", "string")), ("p",)),
    "s.visit": TableSchema("s.visit", (("v_nation", "bigint"), ("v_p", "bigint")), ()),
}
FACTS = {
    "s.customer": TableFacts(1_000_000, ("c",)),
    "s.orders": TableFacts(10_000_000, ("o",)),
    "s.line": TableFacts(40_000_000, ()),
    "s.part": TableFacts(2_000_000, ("p",)),
    "s.visit": TableFacts(3_000_000, ()),
}
SALES = (
    "SELECT p.color, sum(l.price) AS total FROM s.customer c JOIN s.orders o ON c.c = o.o_c "
    "JOIN s.line l ON l.l_o = o.o JOIN s.part p ON l.l_p = p.p GROUP BY p.color"
)


def job(query: str, *changed: str) -> MaintenanceJob:
    view = compile_view("v", sqlglot.parse_one(query, read="spark"), TABLES)
    return batch_job(view, frozenset(f"s.{name}" for name in changed), Strategy.INCREMENTAL, Reason.LINEAR, FACTS)


def reads(found: MaintenanceJob) -> dict[str, int]:
    """How often the steps read each table, in any state or its changes."""
    tables = {item.name: item.table for item in found.inputs}
    counts: dict[str, int] = {}
    for step in found.steps:
        for table in sqlglot.parse_one(step.sql, read="spark").find_all(sqlglot.exp.Table):
            if table.name in tables:
                counts[tables[table.name]] = counts.get(tables[table.name], 0) + 1
    return counts


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (("line", "orders"), {"s.line": 2, "s.orders": 2, "s.part": 1, "s.customer": 1}),
        (("line", "orders", "customer"), {"s.line": 3, "s.orders": 3, "s.customer": 2, "s.part": 1}),
        # Each state of a table but the changed one's own is met on the way outwards, the smallest table's before once.
        (("line", "orders", "customer", "part"), {"s.line": 4, "s.orders": 4, "s.part": 3, "s.customer": 2}),
        # Orders link the changed tables: the part alone is in all terms.
        (("line", "customer"), {"s.line": 2, "s.orders": 2, "s.customer": 2, "s.part": 1}),
    ],
)
def test_an_unchanged_table_is_read_once(changed: tuple[str, ...], expected: dict[str, int]) -> None:
    assert reads(job(SALES, *changed)) == expected


def test_nothing_is_taken_out_where_the_rest_has_no_key() -> None:
    # A nation has many customers and many visits: only the unchanged part might keep their pairs few.
    query = (
        "SELECT c.nation, count(*) AS n FROM s.customer c JOIN s.visit v ON c.nation = v.v_nation "
        "JOIN s.part p ON p.p = v.v_p AND p.p = c.c GROUP BY c.nation"
    )
    assert reads(job(query, "customer", "visit"))["s.part"] == 2


def test_without_declared_keys_every_term_joins_for_itself() -> None:
    view = compile_view("v", sqlglot.parse_one(SALES, read="spark"), TABLES)
    changed = frozenset({"s.line", "s.orders"})
    unknown = {name: TableFacts(facts.rows) for name, facts in FACTS.items()}
    assert reads(batch_job(view, changed, Strategy.INCREMENTAL, Reason.LINEAR, unknown))["s.part"] == 2


@pytest.mark.parametrize("same", [True, False])
def test_terms_are_put_together_only_where_they_join_the_unchanged_tables_alike(same: bool) -> None:
    between_unchanged = ("p = nation",)
    union = UnionAll((_term("orders", between_unchanged), _term("line", between_unchanged if same else ())))
    assert (factor_terms(union, FACTS) == union) is not same


def _term(changed: str, more: tuple[str, ...]) -> Plan:
    """The term of one table's changes, joined with the part, the customer and the other table."""
    columns = {
        name: tuple(ScanColumn(column, column, type_) for column, type_ in TABLES[f"s.{name}"].columns)
        for name in ("line", "orders", "part", "customer")
    }
    inputs = tuple(
        Changes(f"s.{name}", found) if name == changed else Scan(f"s.{name}", found, At.AFTER)
        for name, found in columns.items()
    )
    conditions = tuple(sqlglot.parse_one(text) for text in ("l_o = o", "l_p = p", "o_c = c", *more))
    return Project(join_all(inputs, conditions), keep(("color", "price", WEIGHT)))
