"""Random PIVOT and UNPIVOT, and what they mean in SQL that has neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from tests.fuzz.expressions import INT, STRING, Col, Query

if TYPE_CHECKING:
    from tests.fuzz.grammar import Queries


def pivoted(queries: Queries, depth: int) -> Query:
    """Groups by no or one column, and a cell for each of some values of another."""
    random = queries.random
    source, columns = queries.source(depth)
    kind = random.choice((INT, STRING))
    around = [queries.expressions.value(columns)] if random.random() < 0.85 else []
    inner = queries.made(
        f"SELECT {{}} FROM {source}{queries.where(columns)}",
        [*around, queries.expressions.value(columns, kind), queries.expressions.value(columns, INT)],
    )
    key, value = inner.columns[-2:]
    aggregates = random.sample(("sum({})", "min({})", "max({})", "count({})", "count(*)"), k=random.choice((1, 1, 2)))
    labels = [queries.name("a") for _ in aggregates]
    constants = random.sample(("1", "0", "2", "NULL") if kind == INT else ("'x'", "''", "NULL"), k=2)
    values = [queries.name("p") for _ in constants]
    calls = ", ".join(f"{call.format(value.sql)} AS {label}" for call, label in zip(aggregates, labels, strict=True))
    wanted = ", ".join(f"{constant} AS {name}" for constant, name in zip(constants, values, strict=True))
    cells = [f"{name}_{label}" for name in values for label in labels] if len(labels) > 1 else values
    alias = queries.name("q")
    shown = [Col(f"{alias}.{column.sql}", column.type) for column in inner.columns[:-2]]
    # Counts and sums are BIGINT.
    shown += [Col(f"CAST({alias}.{cell} AS INT)", INT) for cell in cells]
    return queries.made(f"SELECT {{}} FROM ({inner.sql}) PIVOT ({calls} FOR {key.sql} IN ({wanted})) AS {alias}", shown)


def unpivoted(queries: Queries, depth: int) -> Query:
    """A row for each of two columns."""
    random = queries.random
    source, columns = queries.source(depth)
    kind = random.choice((INT, STRING))
    items = [random.choice(columns), *(queries.expressions.value(columns, kind) for _ in range(2))]
    inner = queries.made(f"SELECT {{}} FROM {source}{queries.where(columns)}", items)
    kept, one, other = inner.columns
    name, value, first, alias = (queries.name(prefix) for prefix in "nvxq")
    nulls = random.choice(("", " INCLUDE NULLS", " EXCLUDE NULLS"))
    listed = f"{one.sql} AS {first}, {other.sql}"
    shown = [Col(f"{alias}.{kept.sql}", kept.type), Col(f"{alias}.{name}", STRING), Col(f"{alias}.{value}", kind)]
    return queries.made(
        f"SELECT {{}} FROM ({inner.sql}) UNPIVOT{nulls} ({value} FOR {name} IN ({listed})) AS {alias}", shown
    )


def without_pivots(tree: exp.Expr) -> None:
    """Change the tree in place: PIVOT to filtered aggregates, UNPIVOT to a UNION ALL."""
    for pivot in list(tree.find_all(exp.Pivot))[::-1]:
        subquery = pivot.parent
        assert isinstance(subquery, exp.Subquery)
        make = _unpivot if pivot.args.get("unpivot") else _pivot
        alias = pivot.args.get("alias") or subquery.args["alias"]
        made = make(subquery.this, pivot)
        subquery.replace(exp.Subquery(this=made, alias=exp.TableAlias(this=alias.this.copy())))


def _pivot(inner: exp.Query, pivot: exp.Pivot) -> exp.Select:
    """A cell without rows is NULL, counts too: all aggregates here are numbers."""
    (field,) = pivot.args["fields"]
    used = {column.name for column in pivot.find_all(exp.Column)}
    around = [exp.column(name) for name in inner.named_selects if name not in used]
    cells = []
    for value in field.expressions:
        own = exp.Where(this=exp.NullSafeEQ(this=field.this.copy(), expression=value.this.copy()))
        for item in pivot.expressions:
            present = exp.Filter(this=exp.Count(this=exp.Star()), expression=own.copy())
            cell = exp.Filter(this=item.this.copy(), expression=own.copy())
            name = value.alias if len(pivot.expressions) == 1 else f"{value.alias}_{item.alias}"
            cells.append(
                exp.alias_(exp.Case(ifs=[exp.If(this=exp.GT(this=present, expression=_zero()), true=cell)]), name)
            )
    grouped = exp.select(*around, *cells).from_(inner.subquery("pivoted"))
    return grouped.group_by(*around) if around else grouped


def _unpivot(inner: exp.Query, pivot: exp.Pivot) -> exp.Query:
    (field,) = pivot.args["fields"]
    (value,) = pivot.expressions
    columns = [item.this if isinstance(item, exp.PivotAlias) else item for item in field.expressions]
    used = {column.name for column in columns}
    around = [exp.column(name) for name in inner.named_selects if name not in used]
    sides = []
    for item, column in zip(field.expressions, columns, strict=True):
        label = exp.alias_(exp.Literal.string(item.alias or column.name), field.this.name)
        side = exp.select(*around, label, exp.alias_(column.copy(), value.name)).from_(
            inner.copy().subquery("unpivoted")
        )
        if not pivot.args.get("include_nulls"):
            side = side.where(exp.Not(this=exp.Is(this=column.copy(), expression=exp.null())))
        sides.append(side)
    return exp.union(*sides, distinct=False)


def _zero() -> exp.Expr:
    return exp.Literal.number(0)
