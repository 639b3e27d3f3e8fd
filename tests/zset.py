"""A plan evaluated on bags in plain Python: the meaning that every other evaluation is compared with.

A bag is a Counter of rows; integers, strings and None are all the values there are. Rows of a delta plan end with
their weight, which is a column like any other here; ``as_weights`` reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp

from ivm_core.plan import nodes as n
from ivm_core.plan.nodes import At, JoinKind, Plan, SetKind

Value = int | str | bool | None
Row = tuple[Value, ...]
Bag = Counter[Row]
Record = Mapping[str, Value]


@dataclass(frozen=True)
class Table:
    """A base table before and after a batch: its column names, and its rows in both states."""

    columns: tuple[str, ...]
    before: tuple[Row, ...]
    after: tuple[Row, ...]


Tables = Mapping[str, Table]


def evaluate(
    plan: Plan, tables: Tables, rounds: Mapping[str, tuple[tuple[str, ...], Bag]] = MappingProxyType({})
) -> Bag:
    """The bag of the plan's rows; a scan ``now`` reads the state after the batch.

    ``rounds``: of the recursions around the plan, the column names and the rows of the round before.
    """

    def bag(source: Plan) -> Bag:
        return evaluate(source, tables, rounds)

    def rows(source: Plan) -> list[dict[str, Value]]:
        return [dict(zip(source.names, row, strict=True)) for row in bag(source).elements()]

    match plan:
        case n.Scan(table, columns, at):
            data = tables[table]
            return _project(data.columns, data.before if at is At.BEFORE else data.after, columns)
        case n.Changes(table, columns):
            data = tables[table]
            weights = _project(data.columns, data.after, columns)
            weights.subtract(_project(data.columns, data.before, columns))
            return Counter((*row, weight) for row, weight in weights.items() if weight)
        case n.Values(_, _, literals):
            return Counter(tuple(value(cell, {}) for cell in row) for row in literals)
        case n.Project(source, columns):
            return Counter(tuple(value(c.expression, row) for c in columns) for row in rows(source))
        case n.Filter(source, condition):
            return Counter(tuple(row.values()) for row in rows(source) if value(condition, row) is True)
        case n.Join(left, right, kind, condition):
            return _join(rows(left), rows(right), kind, condition, len(right.names), len(left.names))
        case n.UnionAll(inputs):
            return sum((bag(source) for source in inputs), Counter())
        case n.Distinct(source):
            return Counter(bag(source).keys())
        case n.Recursive(name, base, step):
            found = made = bag(base)
            while made:
                made = evaluate(step, tables, {**rounds, name: (base.names, made)})
                found = found + made
            return found
        case n.Round(name, columns):
            names, before = rounds[name]
            return Counter(_project(names, before.elements(), columns))
        case n.Aggregate(source, keys, aggregates):
            groups: dict[Row, list[dict[str, Value]]] = {} if keys else {(): []}
            for row in rows(source):
                groups.setdefault(tuple(value(key.expression, row) for key in keys), []).append(row)
            return Counter((*key, *(aggregate(a.expression, g) for a in aggregates)) for key, g in groups.items())
        case n.Window(source, functions):
            data_rows = rows(source)
            return Counter(
                (*row.values(), *(window(f.expression, row, data_rows) for f in functions)) for row in data_rows
            )
        case n.SetOperation(left, right, kind, all_):
            a, b = bag(left), bag(right)
            if kind is SetKind.INTERSECT:
                return a & b if all_ else Counter((a & b).keys())
            return a - b if all_ else Counter(a.keys() - b.keys())
        case n.Generate(source, generator, _, outer):
            return _explode(rows(source), generator, outer)
        case n.Limit(source, order, count, offset):
            ordered = sorted(rows(source), key=lambda row: [_rank(o, row) for o in order])
            end = None if count is None else offset + count
            return Counter(tuple(row.values()) for row in ordered[offset:end])
    raise NotImplementedError(type(plan).__name__)


def as_weights(bag: Bag) -> dict[Row, int]:
    """Rows without their last column, the weight, and the sum of their weights where it is not 0."""
    weights: Counter[Row] = Counter()
    for row, copies in bag.items():
        weight = row[-1]
        assert isinstance(weight, int)
        weights[row[:-1]] += weight * copies
    return {row: weight for row, weight in weights.items() if weight}


def difference(after: Bag, before: Bag) -> dict[Row, int]:
    """after − before as weights."""
    weights = Counter(after)
    weights.subtract(before)
    return {row: weight for row, weight in weights.items() if weight}


def value(expression: exp.Expr | None, row: Record) -> Value:
    """A row-wise expression with SQL's three-valued logic; unknown is None."""
    match expression:
        case exp.Column():
            return row[expression.name]
        case exp.Paren() | exp.Cast():
            return value(expression.this, row)
        case exp.Literal():
            return expression.this if expression.is_string else int(expression.this)
        case exp.Null():
            return None
        case exp.Boolean():
            return bool(expression.this)
        case exp.And() | exp.Or():
            absorbing = isinstance(expression, exp.Or)
            operands = {value(expression.this, row), value(expression.expression, row)}
            return absorbing if absorbing in operands else None if None in operands else not absorbing
        case exp.Not():
            operand = value(expression.this, row)
            return None if operand is None else not operand
        case exp.Is():
            return value(expression.this, row) is value(expression.expression, row)
        case exp.NullSafeEQ():
            return value(expression.this, row) == value(expression.expression, row)
        case exp.Coalesce():
            options = (value(option, row) for option in (expression.this, *expression.expressions))
            return next((option for option in options if option is not None), None)
        case exp.Case(args={"ifs": ifs}):
            taken = (branch.args["true"] for branch in ifs if value(branch.this, row) is True)
            return value(next(taken, expression.args.get("default") or exp.Null()), row)
        case exp.Neg():
            operand = value(expression.this, row)
            return None if operand is None else -operand  # type: ignore[operator]
        case exp.Binary() if type(expression) in _OPERATORS:
            left, right = value(expression.this, row), value(expression.expression, row)
            return None if left is None or right is None else _OPERATORS[type(expression)](left, right)
    raise NotImplementedError(repr(expression))


_OPERATORS: dict[type[exp.Expr], Callable[..., Value]] = {
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
    exp.LT: lambda a, b: a < b,
    exp.LTE: lambda a, b: a <= b,
    exp.GT: lambda a, b: a > b,
    exp.GTE: lambda a, b: a >= b,
    exp.Add: lambda a, b: a + b,
    exp.Sub: lambda a, b: a - b,
    exp.Mul: lambda a, b: a * b,
}


def aggregate(call: exp.Expr, group: list[dict[str, Value]]) -> Value:
    """One aggregate call over the rows of a group; NULL arguments do not count."""
    argument = call.this
    if isinstance(argument, exp.Star):
        return len(group)
    once = isinstance(argument, exp.Distinct)
    cells = [value(argument.expressions[0] if once else argument, row) for row in group]
    present: list[Value] = [cell for cell in cells if cell is not None]
    if once:
        present = list(dict.fromkeys(present))
    match call:
        case exp.Count():
            return len(present)
        case exp.Sum():
            return sum(present) if present else None  # type: ignore[arg-type]
        case exp.Min():
            return min(present, default=None)  # type: ignore[type-var]
        case exp.Max():
            return max(present, default=None)  # type: ignore[type-var]
    raise NotImplementedError(repr(call))


def window(function: exp.Expr, row: Record, rows: list[dict[str, Value]]) -> Value:
    """One window function of a row, with the default frame: up to and with the row's peers, or the whole partition."""
    partition_by = function.args.get("partition_by") or []
    key = [value(part, row) for part in partition_by]
    partition = [other for other in rows if [value(part, other) for part in partition_by] == key]
    order = function.args.get("order")
    here = [_rank(o, row) for o in order.expressions] if order else []
    before = [other for other in partition if order and [_rank(o, other) for o in order.expressions] < here]
    if isinstance(function.this, exp.Rank):
        return len(before) + 1
    peers = [other for other in partition if not order or [_rank(o, other) for o in order.expressions] == here]
    return aggregate(function.this, before + peers)


def _rank(ordered: exp.Expr, row: Record) -> tuple[bool, object]:
    """A sort key for ascending order with NULLs first, the only order the tests use."""
    cell = value(ordered.this, row)
    return (cell is not None, cell if cell is not None else 0)


def _join(
    left: list[dict[str, Value]],
    right: list[dict[str, Value]],
    kind: JoinKind,
    condition: exp.Expr | None,
    right_width: int,
    left_width: int,
) -> Bag:
    result: Bag = Counter()
    matched_right: set[int] = set()
    for row in left:
        matches = [i for i, r in enumerate(right) if condition is None or value(condition, {**row, **r}) is True]
        matched_right.update(matches)
        cells = tuple(row.values())
        if kind is JoinKind.SEMI or kind is JoinKind.ANTI:
            result[cells] += bool(matches) is (kind is JoinKind.SEMI)
            continue
        result.update((*cells, *right[i].values()) for i in matches)
        if not matches and kind in (JoinKind.LEFT, JoinKind.FULL):
            result[(*cells, *(None,) * right_width)] += 1
    if kind in (JoinKind.RIGHT, JoinKind.FULL):
        unmatched = (r for i, r in enumerate(right) if i not in matched_right)
        result.update((*(None,) * left_width, *r.values()) for r in unmatched)
    return +result


def _explode(rows: list[dict[str, Value]], generator: exp.Expr, outer: bool) -> Bag:
    """explode(array(…)) or, for a NULL, nothing: CASE WHEN … THEN array(…) END."""
    result: Bag = Counter()
    for row in rows:
        array: exp.Expr | None = generator.this
        if isinstance(array, exp.Case):
            taken = (branch.args["true"] for branch in array.args["ifs"] if value(branch.this, row) is True)
            array = next(taken, None)
        cells: Iterable[Value] = [value(cell, row) for cell in array.expressions] if array is not None else []
        result.update((*row.values(), cell) for cell in cells or ([None] if outer else []))
    return result


def _project(names: tuple[str, ...], rows: Iterable[Row], columns: tuple[n.ScanColumn, ...]) -> Bag:
    positions = [names.index(column.source) for column in columns]
    return Counter(tuple(row[position] for position in positions) for row in rows)
