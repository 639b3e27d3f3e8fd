"""More shapes of random queries: functions of the one that draws, each to a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.aggregates import grouped_items, sums_of_matches
from tests.fuzz.expressions import ARRAY, DECIMAL, INT, STRING, STRUCT, WIDE, Col, Query
from tests.fuzz.tables import TABLES

if TYPE_CHECKING:
    from tests.fuzz.grammar import Queries

_OUTER = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


def same_names(queries: Queries, _depth: int) -> Query:
    """A join by columns of the same names; a column that both have is told by its name alone."""
    random = queries.random
    left, right = random.sample(list(TABLES.values()), k=2)
    one, other = queries.name("t"), queries.name("t")
    shared = {name: kind for name, kind in left.columns if (name, kind) in right.columns}
    kind = random.choice(_OUTER)
    if random.random() < 0.4:
        joined = f"{left.name} AS {one} NATURAL {kind} {right.name} AS {other}"
    else:
        shared = dict(random.sample(list(shared.items()), k=random.randint(1, len(shared))))
        joined = f"{left.name} AS {one} {kind} {right.name} AS {other} USING ({', '.join(shared)})"
    columns = [Col(name, kind_) for name, kind_ in shared.items()]
    for alias, table in ((one, left), (other, right)):
        columns += [Col(f"{alias}.{name}", kind_) for name, kind_ in table.columns if name not in shared]
    shown = random.sample(columns, k=random.randint(1, min(3, len(columns))))
    return queries.made(f"SELECT {{}} FROM {joined}{queries.where(columns)}", shown)


def lateral(queries: Queries, depth: int) -> Query:
    """A subquery in FROM for each row of what stands before it."""
    random = queries.random
    source, columns = queries.relation(depth)
    inner, own = queries.relation(0)
    correlated = f" WHERE {queries.plain_equality(columns, own)}"
    if random.random() < 0.5:
        listed, _ = grouped_items(random, queries.expressions, own, [])
    else:
        listed = [queries.expressions.value(own) for _ in range(random.randint(1, 2))]
    query = queries.made(f"SELECT {{}} FROM {inner}{correlated}", listed)
    alias = queries.name("q")
    side = random.choice(
        (f", LATERAL ({query.sql}) AS {alias}", f" LEFT JOIN LATERAL ({query.sql}) AS {alias} ON TRUE")
    )
    offered = [*columns, *(Col(f"{alias}.{column.sql}", column.type) for column in query.columns)]
    items = [random.choice(columns), *(queries.expressions.value(offered) for _ in range(2))]
    return queries.made(f"SELECT {{}} FROM {source}{side}{queries.where(offered)}", items)


def without_column(queries: Queries, depth: int) -> Query:
    """SELECT * EXCEPT (column)."""
    inner = queries.query(max(depth - 1, 0))
    if len(inner.columns) == 1:
        return inner
    left_out = queries.random.choice(inner.columns)
    kept = tuple(column for column in inner.columns if column is not left_out)
    return Query(f"SELECT * EXCEPT ({left_out.sql}) FROM ({inner.sql}) AS {queries.name('q')}", kept)


def aliases(queries: Queries, depth: int) -> Query:
    """Items that refer to the items before them."""
    source, columns = queries.source(depth)
    first = queries.made("{}", [queries.expressions.value(columns) for _ in range(2)])
    then = queries.made("{}", [queries.expressions.value(first.columns)])
    sql = f"SELECT {first.sql}, {then.sql} FROM {source}{queries.where(columns)}"
    return Query(sql, (*first.columns, *then.columns))


def windows_of_groups(queries: Queries, depth: int) -> Query:
    """Window functions over the groups of the same SELECT."""
    random = queries.random
    source, columns = queries.source(depth)
    keys = random.sample(columns, k=min(2, len(columns)))
    (call, *_), having = grouped_items(random, queries.expressions, columns, keys)
    listed = ", ".join(dict.fromkeys(key.sql for key in keys))
    everything = ", ".join((call.sql, listed))
    partition = f"PARTITION BY {keys[0].sql} " if random.random() < 0.7 else ""
    made = random.choice(
        (
            Col(f"CAST(rank() OVER ({partition}ORDER BY {call.sql}) AS INT)", INT),
            Col(f"CAST(row_number() OVER ({partition}ORDER BY {everything} DESC) AS INT)", INT),
            Col(f"CAST(sum(count(*)) OVER ({partition}) AS INT)", INT),
            Col(f"max({call.sql}) OVER ({partition})", call.type),
            Col(f"lag({call.sql}) OVER ({partition}ORDER BY {everything})", call.type),
        )
    )
    grouped = f"SELECT {{}} FROM {source}{queries.where(columns)} GROUP BY {listed}{having}"
    return queries.made(grouped, [*keys, made])


def mixed_sides(queries: Queries, _depth: int) -> Query:
    """What tells the common type of a set operation from the types of its sides, as a value, a key or a condition."""
    random = queries.random
    alias, number, other = queries.name("q"), queries.name("x"), queries.name("y")
    sides = []
    for kind in random.sample((INT, DECIMAL), k=2):
        source, columns = queries.relation(0)
        items = (queries.expressions.value(columns, type_, depth=0).sql for type_ in (kind, INT))
        listed = ", ".join(f"{item} AS {name}" for item, name in zip(items, (number, other), strict=True))
        sides.append(f"SELECT {listed} FROM {source}{queries.where(columns)}")
    operator = random.choice(("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL"))
    source = f"({f' {operator} '.join(sides)}) AS {alias}"
    columns = [Col(f"{alias}.{number}", WIDE), Col(f"{alias}.{other}", INT)]
    text = Col(f"CAST({alias}.{number} AS STRING)", STRING)
    match random.randrange(4):
        case 0:
            return queries.made(f"SELECT {{}} FROM {source}{queries.where(columns)}", [text, columns[1]])
        case 1:
            computed, having = grouped_items(random, queries.expressions, columns, [text])
            return queries.made(f"SELECT {{}} FROM {source} GROUP BY {text.sql}{having}", [text, *computed])
        case 2:
            condition = f"{text.sql} LIKE '%{random.choice(('.00', '.50', '1', '-1'))}'"
            return queries.made(f"SELECT {{}} FROM {source} WHERE {condition}", columns)
        case _:
            joined, others = queries.relation(0)
            matched = random.choice([c.sql for c in others if c.type in (INT, DECIMAL, STRING)] or ["'1'"])
            kind = random.choice(_OUTER)
            on = f"{text.sql} = CAST({matched} AS STRING)"
            return queries.made(f"SELECT {{}} FROM {source} {kind} {joined} ON {on}", [*columns, *others[:2]])


def joined_windows(queries: Queries, depth: int) -> Query:
    """Window functions joined by a column that their partitions are made of, or by it and another column."""
    random = queries.random
    source, columns = queries.source(max(depth - 1, 0))
    key = random.choice([c for c in columns if c.type not in (ARRAY, STRUCT)])
    number = queries.expressions.value(columns, INT, depth=0)
    partition = queries.expressions.coarser([key])
    counted = Col(f"CAST(count(*) OVER (PARTITION BY {partition}) AS INT)", INT)
    windows = queries.made(f"SELECT {{}} FROM {source}{queries.where(columns)}", [key, number, counted])
    alias = queries.name("q")
    own = [Col(f"{alias}.{column.sql}", column.type) for column in windows.columns]
    other, others = queries.relation(0)
    matching = [column.sql for column in others if column.type == key.type]
    if not matching:
        return windows
    matched = random.choice(matching)
    added = f" + {own[1].sql}" if key.type == INT and random.random() < 0.3 else ""
    on = f"{own[0].sql} {random.choice(('=', '<=>'))} {matched}{added}"
    return queries.made(
        f"SELECT {{}} FROM ({windows.sql}) AS {alias} {random.choice(_OUTER)} {other} ON {on}", [*own, *others[:2]]
    )


def of_matches(queries: Queries, depth: int) -> Query:
    """Aggregates over the side of an outer join that may have no match, of all rows or of each group of the other side."""
    random = queries.random
    kept, columns = queries.relation(depth)
    matched, others = queries.relation(0)
    numbers = [column.sql for column in others if column.type == INT]
    few = f" AND {random.choice(numbers)} > 2" if numbers and random.random() < 0.5 else ""
    joined = random.choice((f"{kept} LEFT JOIN {matched}", f"{matched} RIGHT JOIN {kept}"))
    keys = random.sample([c for c in columns if c.type not in (ARRAY, STRUCT)], k=1) if random.random() < 0.4 else []
    if random.random() < 0.5:
        computed, having = sums_of_matches(random, queries.expressions, others), ""
    else:
        computed, having = grouped_items(random, queries.expressions, others, keys)
    grouped = f" GROUP BY {keys[0].sql}{having}" if keys else ""
    on = f"{queries.join_condition(columns, others)}{few}"
    return queries.made(f"SELECT {{}} FROM {joined} ON {on}{grouped}", [*keys, *computed])


def lateral_view(queries: Queries, source: str, columns: list[Col]) -> tuple[str, list[Col]]:
    """A FROM clause with its columns, and now and then the elements of an array of its rows beside them."""
    random = queries.random
    arrays = [column.sql for column in columns if column.type == ARRAY]
    numbers = [column.sql for column in columns if column.type == INT]
    if not numbers or random.random() >= (0.5 if arrays else 0.1):
        return source, columns
    alias, made, other = queries.name("e"), queries.name("x"), queries.name("x")
    listed = f"array({random.choice(numbers)}, {random.choice(('1', *numbers))})"
    array = random.choice(arrays) if arrays else listed
    outer = random.choice(("", " OUTER"))
    one = Col(f"{alias}.{made}", INT)
    match random.randrange(4):
        case 0:
            view = f"{source} LATERAL VIEW{outer} posexplode({array}) {alias} AS {other}, {made}"
            return view, [*columns, Col(f"CAST({alias}.{other} AS INT)", INT), one]  # DuckDB's positions are BIGINT
        case 1:
            structs = ", ".join(f"named_struct('p', {random.choice(numbers)}, 'q', '{text}')" for text in ("x", "y"))
            view = f"{source} LATERAL VIEW{outer} inline(array({structs})) {alias} AS {made}, {other}"
            return view, [*columns, one, Col(f"{alias}.{other}", STRING)]
        case _:
            return f"{source} LATERAL VIEW{outer} explode({array}) {alias} AS {made}", [*columns, one]


def recursion(queries: Queries, depth: int) -> Query:
    """Some rows, and what a few steps lead to from them."""
    random = queries.random
    source, columns = queries.source(max(depth - 1, 0))
    base = queries.made(
        f"SELECT {{}}, 0 AS depth FROM {source}{queries.where(columns)}",
        [queries.expressions.value(columns, INT), queries.expressions.value(columns, STRING)],
    )
    name, alias = queries.name("r"), queries.name("t")
    number, text = (f"{name}.{column.sql}" for column in base.columns)
    deeper = f"{name}.depth + 1 FROM {name}"
    table = random.choice(list(TABLES.values()))
    other = f"{alias}.{random.choice([column for column, kind in table.columns if kind == INT])}"
    step = random.choice(
        (
            f"SELECT {number} + 1, {text}, {deeper} WHERE {name}.depth < 2",
            f"SELECT {other}, {text} || '.', {deeper} JOIN {table.name} AS {alias} ON {alias}.b = {number} AND {name}.depth < 2",
            f"SELECT {number} - 1, {text}, {deeper} WHERE {number} > 0 AND {name}.depth < 3",
        )
    )
    shown = queries.name("q")
    listed = [Col(f"{shown}.{base.columns[0].sql}", INT), Col(f"{shown}.{base.columns[1].sql}", STRING)]
    return queries.made(
        f"SELECT {{}} FROM (WITH RECURSIVE {name} AS ({base.sql} UNION ALL {step}) SELECT * FROM {name}) AS {shown}",
        [*listed, Col(f"{shown}.depth", INT)],
    )
