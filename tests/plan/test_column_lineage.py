"""Where columns come from: written down query by query, and shown by changing what the lineage does not name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from ivm_core.plan.column_lineage import column_lineage
from ivm_core.plan.explain import explain
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.nodes import Plan
from ivm_core.plan.normalize import normalize
from ivm_core.plan.origins import Origin
from tests.delta.random_plans import RandomPlans, random_tables
from tests.plan.odd_queries import ODD
from tests.plan.queries import CLOCK, QUERIES, SPARK_ONLY, TABLES
from tests.spec import Spec, read_specs
from tests.zset import Row, Table, evaluate

FIXTURES = Path(__file__).parent.parent / "fixtures" / "plan"


@pytest.mark.parametrize("spec", read_specs(FIXTURES / "column_lineage.spec"), ids=str)
def test_query_has_this_lineage(spec: Spec) -> None:
    found = column_lineage(normalize(from_sql(spec.input, TABLES, "shop")))
    lines = [f"{name}: {spell(origins)}" for name, origins in (*found.columns.items(), ("rows", found.rows))]
    assert [line.rstrip() for line in lines] == spec.expected.splitlines()


@pytest.mark.parametrize("sql", (*QUERIES, *SPARK_ONLY, *ODD, *CLOCK))
def test_every_query_has_a_lineage_of_columns_that_there_are(sql: str) -> None:
    plan = normalize(from_sql(sql, TABLES, "shop"))
    found = column_lineage(plan)
    assert tuple(found.columns) == plan.names
    assert not any(origin.effect.direct for origin in found.rows)
    for origin in (*found.rows, *(origin for origins in found.columns.values() for origin in origins)):
        assert origin.column in dict(TABLES[origin.table].columns)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_what_the_lineage_does_not_name_can_be_anything(depth: int) -> None:
    kept = 0
    for seed in range(250):
        random = Random(seed)
        plan = RandomPlans(random).plan(depth)
        tables = random_tables(random)
        found = column_lineage(plan)
        for table in tables:
            for column in tables[table].columns:
                if any((origin.table, origin.column) == (table, column) for origin in found.rows):
                    continue
                names = [name for name, origins in found.columns.items() if not is_among(origins, table, column)]
                other = {**tables, table: with_other_values(tables[table], column, random)}
                assert only(plan, tables, names) == only(plan, other, names), (seed, table, column, explain(plan))
                kept += bool(names)
    assert kept > 250, "few plans leave a column of a table out"


def spell(origins: Collection[Origin]) -> str:
    return ", ".join(f"{origin.table}.{origin.column} {origin.effect}" for origin in origins)


def is_among(origins: Collection[Origin], table: str, column: str) -> bool:
    return any((origin.table, origin.column) == (table, column) for origin in origins)


def with_other_values(table: Table, column: str, random: Random) -> Table:
    """The table with any values in a column."""
    place = table.columns.index(column)
    values = (None, 0, 1, 2, 7) if column in ("a", "b") else (None, "x", "z", "")
    rows = tuple((*row[:place], random.choice(values), *row[place + 1 :]) for row in table.after)
    return replace(table, after=rows)


def only(plan: Plan, tables: dict[str, Table], names: Collection[str]) -> Counter[Row]:
    """The plan's rows, cut to columns of these names."""
    places = [plan.names.index(name) for name in names]
    rows: Counter[Row] = Counter()
    for row, copies in evaluate(plan, tables).items():
        rows[tuple(row[place] for place in places)] += copies
    return rows
