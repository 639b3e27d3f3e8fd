"""The base tables of random views and the traces of changes to them.

Values are few, so that everything collides: NULL keys, equal rows, groups that come and go; a few are extreme.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from random import Random

from ivm_core.plan.clock import CLOCK
from ivm_core.plan.schema import TableSchema

_FIRST = datetime.datetime(2024, 1, 29, 7)  # the clock of a trace's first state is within four days of it

Row = tuple[object, ...]
State = Mapping[str, tuple[Row, ...]]  # table → its rows; of the clock its instant

# Types: numbers to compute with (int, decimal), and values only to compare (bigint, string, date).
TABLES = {
    schema.name: schema
    for schema in (
        TableSchema("f.r", (("a", "int"), ("b", "int"), ("c", "string"), ("d", "decimal(10,2)"))),
        TableSchema("f.s", (("a", "int"), ("b", "int"), ("e", "date"))),
        TableSchema("f.t", (("b", "int"), ("c", "string"), ("n", "bigint"))),
    )
}

_VALUES: dict[str, list[object]] = {
    "int": [None, 0, 1, 1, 2, 3, -1],
    "bigint": [None, 0, 7, 2**63 - 1, -(2**63)],
    "string": [None, "", "x", "x", "xy", "X", "1", "01"],
    "date": [None, datetime.date(2024, 1, 31), datetime.date(2024, 2, 29), datetime.date(1582, 10, 4)],
    "decimal(10,2)": [
        None,
        Decimal("0.00"),
        Decimal("0.05"),
        Decimal("1.00"),
        Decimal("1.50"),
        Decimal("-99999999.99"),
    ],
}


def random_trace(random: Random, names: tuple[str, ...], batches: int) -> list[State]:
    """The states of the tables: the first, then one after each batch; some batches touch one table, some nothing."""
    rows = {name: random_rows(random, name, random.choice((0, 1, 3, 5, 8))) for name in TABLES}
    states: list[State] = [{**rows, CLOCK: ((_FIRST + datetime.timedelta(hours=random.randrange(96)),),)}]
    for _ in range(batches if names else 0):
        touched = random.sample(names, k=random.randint(1, len(names)))
        states.append(
            {name: _edited(random, name, rows) if name in touched else rows for name, rows in states[-1].items()}
        )
    return states


def changed_between(before: State, after: State) -> frozenset[str]:
    """The tables that a batch touched, though it may have left their rows as they were."""
    return frozenset(name for name in after if after[name] is not before[name])


def random_rows(random: Random, table: str, count: int) -> tuple[Row, ...]:
    return tuple(_row(random, table) for _ in range(count))


def _row(random: Random, table: str) -> Row:
    return tuple(random.choice(_VALUES[kind]) for _, kind in TABLES[table].columns)


def _edited(random: Random, table: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Rows deleted, doubled, moved to another key or value, and inserted; the whole table emptied or written again.

    The clock moves on, by an hour or over some midnights.
    """
    if table == CLOCK:
        ((instant,),) = rows
        assert isinstance(instant, datetime.datetime)
        return ((instant + datetime.timedelta(hours=random.choice((1, 24, 30, 24 * 29))),),)
    match random.randrange(12):
        case 0:
            return ()
        case 1:
            return random_rows(random, table, random.choice((1, 4)))
        case 2:
            return (*rows, *random_rows(random, table, 2))
    edited: list[Row] = []
    for row in rows:
        match random.randrange(6):
            case 0:
                continue
            case 1:
                edited += [row, row]
            case 2:
                place, other = random.randrange(len(row)), _row(random, table)
                edited.append((*row[:place], other[place], *row[place + 1 :]))
            case _:
                edited.append(row)
    return (*edited, *random_rows(random, table, random.randrange(3)))
