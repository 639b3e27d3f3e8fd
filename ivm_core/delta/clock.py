"""The clock of a delta plan put in as literals: the two instants of a batch are known before it runs.

``R ⋈_p C⁺`` is σ_p(R) with the instant after the batch in place of the clock's columns. ``R ⋈_p ΔC`` has the rows of R
once with the old instant and weight −1, once with the new one and weight 1; where no one reads the clock above the join,
only the rows for which p differs remain: σ_{p⁺ ∧ ¬p⁻}(R) − σ_{p⁻ ∧ ¬p⁺}(R). So a batch in which time moved a day reads
the days that enter and leave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from ivm_core.plan.clock import CLOCK
from ivm_core.plan.nodes import (
    WEIGHT,
    Aggregate,
    At,
    Changes,
    Filter,
    Join,
    JoinKind,
    Named,
    Plan,
    Project,
    Scan,
    ScanColumn,
    UnionAll,
    Values,
    base_tables,
    column,
    operators,
    references,
    sources,
)
from ivm_core.plan.rewrite import both, conjuncts, expect_expression, substitute, with_sources
from ivm_core.plan.types import typed

Names = frozenset[str]
PARAMETERS = {At.AFTER: "clock_after", At.BEFORE: "clock_before"}
_INVERSE: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.GT: exp.LTE, exp.GTE: exp.LT, exp.LT: exp.GTE, exp.LTE: exp.GT, exp.EQ: exp.NEQ,
}  # fmt: skip
# Of these alone, over instants and literals, no expression is NULL.
_NEVER_NULL = (exp.Cast, exp.DataType, exp.Placeholder, exp.Literal, exp.Interval, exp.Var, exp.Add, exp.Sub, exp.Paren)


def pin_clock(plan: Plan) -> Plan:
    """The plan without the clock: ``:clock_before`` and ``:clock_after`` stand for the batch's instants.

    Δ(σ_{d ≥ today}(R)) → σ_{d ≥ after}(ΔR) ∪ σ_{d ≥ after ∧ d < before}(R) ∪ −σ_{d ≥ before ∧ d < after}(R)
    """
    if CLOCK not in base_tables(plan):
        return plan
    done: dict[tuple[int, Names], Plan] = {}

    def visit(node: Plan, needed: Names) -> Plan:
        key = (id(node), needed)
        if key not in done:
            done[key] = _pin(node, needed, visit)
        return done[key]

    return visit(plan, frozenset(plan.names))


@dataclass(frozen=True, slots=True)
class _Row:
    """What a relation over the clock alone holds at one instant: a row, if all the conditions are true."""

    values: Mapping[str, exp.Expression]
    conditions: tuple[exp.Expression, ...] = ()


def _pin(node: Plan, needed: Names, visit: Callable[[Plan, Names], Plan]) -> Plan:
    """``needed``: the columns that are read above; changes that cancel in these may be missing."""
    match node:
        case Scan(table, _, at) if table == CLOCK:
            return _literal_rows(node, (at,))
        case Changes(table) if table == CLOCK:
            return _literal_rows(node, (At.AFTER, At.BEFORE))
        case Project(source, columns):
            told = _read(*(c.expression for c in columns if c.name in needed or c.name == WEIGHT))
            return with_sources(node, (visit(source, _weighted(source, told)),))
        case Aggregate(source, keys, aggregates):
            told = _read(*(c.expression for c in (*keys, *aggregates)))
            return with_sources(node, (visit(source, _weighted(source, told)),))
        case Filter(source, condition):
            return with_sources(node, (visit(source, needed | references(condition)),))
        case UnionAll():
            return with_sources(node, tuple(visit(source, needed) for source in node.sources))
        case Join(left, right, kind, condition):
            below = needed | _read(*conjuncts(condition))
            for clock, other in ((right, left), (left, right)):
                if kind is JoinKind.INNER and CLOCK in base_tables(clock) and _row_of(clock, At.AFTER) is not None:
                    return _join_literals(node, visit(other, below), clock, needed)
            # A row of the left side is joined by itself, one of the right side only in an inner join.
            alone = kind not in (JoinKind.RIGHT, JoinKind.FULL), kind is JoinKind.INNER
            pairs = zip((left, right), alone, strict=True)
            return with_sources(node, tuple(visit(s, below if linear else frozenset(s.names)) for s, linear in pairs))
        case _:
            return with_sources(node, tuple(visit(source, frozenset(source.names)) for source in sources(node)))


def _join_literals(join: Join, other: Plan, clock: Plan, needed: Names) -> Plan:
    """An inner join with a relation over the clock alone: a filter with literals, or two where it has changes."""
    conditions = conjuncts(join.condition)
    rows = {side: row for side in PARAMETERS if (row := _row_of(clock, side)) is not None}
    tests = {
        side: (*row.conditions, *(expect_expression(substitute(c, row.values)) for c in conditions))
        for side, row in rows.items()
    }
    after, before = At.AFTER, At.BEFORE
    if not any(isinstance(node, Changes) for node in operators(clock)):
        return _row_by_row(join.names, other, tests[after], rows[after])
    if needed & (set(clock.names) - {WEIGHT}):
        return UnionAll(tuple(_row_by_row(join.names, other, tests[side], rows[side]) for side in rows))
    terms = []
    for here, there in ((after, before), (before, after)):
        differing = [_is_not_true(b, a) for a, b in zip(tests[here], tests[there], strict=True) if a != b]
        crossing = expect_expression(exp.or_(*differing) if differing else exp.false())
        terms.append(_row_by_row(join.names, other, (*tests[here], crossing), rows[here]))
    return UnionAll(tuple(terms))


def _row_by_row(names: tuple[str, ...], source: Plan, tests: tuple[exp.Expression, ...], row: _Row) -> Plan:
    condition = both(*tests)
    filtered = source if condition is None else Filter(source, condition)
    return Project(filtered, tuple(Named(name, row.values.get(name, column(name))) for name in names))


def _row_of(plan: Plan, side: At) -> _Row | None:
    """The row of a relation over the clock and literals, of its changes the one at a side; None of other relations."""
    match plan:
        case Scan(table, columns, at) if table == CLOCK:
            return _Row({c.name: _instant(c, at) for c in columns})
        case Changes(table, columns) if table == CLOCK:
            return _Row({c.name: _instant(c, side) for c in columns} | {WEIGHT: _weight(side)})
        case Values(names, types, (values,)):
            return _Row({n: typed(value, type_) for n, type_, value in zip(names, types, values, strict=True)})
        case UnionAll((source,)):
            return _row_of(source, side)
        case Project(source, columns):
            row = _row_of(source, side)
            return row and _Row({c.name: substitute(c.expression, row.values) for c in columns}, row.conditions)
        case Filter(source, condition):
            row = _row_of(source, side)
            return row and _Row(row.values, (*row.conditions, substitute(condition, row.values)))
        case Join(left, right, JoinKind.INNER, condition):
            one, other = _row_of(left, side), _row_of(right, side)
            if one is None or other is None:
                return None
            together = {**one.values, **other.values}
            own = tuple(substitute(c, together) for c in conjuncts(condition))
            return _Row(together, (*one.conditions, *other.conditions, *own))
        case _:
            return None


def _literal_rows(leaf: Scan | Changes, sides: tuple[At, ...]) -> Values:
    types = [column.type for column in leaf.columns]
    rows = tuple(tuple(_instant(column, side) for column in leaf.columns) for side in sides)
    if isinstance(leaf, Scan):
        return Values(leaf.names, tuple(types), rows)
    return Values(leaf.names, (*types, "bigint"), tuple((*row, _weight(s)) for row, s in zip(rows, sides, strict=True)))


def _is_not_true(test: exp.Expression, elsewhere: exp.Expression) -> exp.Expression:
    """The test is false or unknown, in a form that file statistics can be held against.

    ``elsewhere``: the same test with the other instant, known to be true of the row.
    """
    if isinstance(test, exp.Between) and isinstance(elsewhere, exp.Between):
        ends = ((exp.GTE, "low"), (exp.LTE, "high"))
        parts = (
            (end(this=t.this.copy(), expression=t.args[key].copy()) for t in (test, elsewhere)) for end, key in ends
        )
        return expect_expression(exp.or_(*(_is_not_true(*part) for part in parts)))
    if type(test) not in _INVERSE or type(test) is not type(elsewhere):
        return exp.Not(this=exp.Coalesce(this=test.copy(), expressions=[exp.false()]))
    inverse = _INVERSE[type(test)](this=test.this.copy(), expression=test.expression.copy())
    # Elsewhere both sides are not NULL: so is the one that is the same here.
    sides = ((test.this, elsewhere.this), (test.expression, elsewhere.expression))
    unknown = [exp.Is(this=exp.paren(a.copy()), expression=exp.null()) for a, b in sides if a != b and _may_be_null(a)]
    return expect_expression(exp.or_(inverse, *unknown))


def _may_be_null(expression: exp.Expr) -> bool:
    return not all(isinstance(node, _NEVER_NULL) for node in expression.walk())


def _instant(column_: ScanColumn, at: At) -> exp.Expression:
    return exp.cast(exp.Placeholder(this=PARAMETERS[at]), column_.type, dialect="spark")


def _weight(side: At) -> exp.Expression:
    one = exp.Literal.number(1)
    return exp.cast(one if side is At.AFTER else exp.Neg(this=one), "bigint", dialect="spark")


def _weighted(source: Plan, read: Names) -> Names:
    """What is read of changes: all columns where it is not the weights that are added, but the rows that matter."""
    return read if WEIGHT in read else frozenset(source.names)


def _read(*expressions: exp.Expression) -> Names:
    return frozenset(name for expression in expressions for name in references(expression))
