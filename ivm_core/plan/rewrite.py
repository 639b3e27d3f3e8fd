"""Traversals that rewrite whole plans, and the few operations on scalar expressions that rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Named,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    SetOperation,
    UnionAll,
    Values,
    Window,
    sources,
)
from ivm_core.plan.types import INTEGRAL, integer_type

Rule = Callable[[Plan], Plan]

# In which a literal's digits count beside a DECIMAL.
_ARITHMETIC = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
    *(exp.SafeAdd, exp.SafeSubtract, exp.SafeMultiply, exp.SafeDivide),
)
_OTHER_ARITHMETIC = ("pmod", "try_mod")
# Spelled as operators, so that they need parentheses below another operator.
_OPERATORS = (exp.Binary, exp.Unary, exp.Between, exp.In, exp.AtTimeZone)


def with_sources(plan: Plan, new_sources: tuple[Plan, ...]) -> Plan:
    """The same operator over other inputs, which are checked as in a new node."""
    if len(new_sources) != len(sources(plan)):
        raise ValueError(f"{type(plan).__name__} has {len(sources(plan))} sources, got {len(new_sources)}")
    match plan:
        case Scan() | Changes() | Values() | Round():
            return plan
        case Recursive():
            return replace(plan, base=new_sources[0], step=new_sources[1])
        case Join() | SetOperation():
            return replace(plan, left=new_sources[0], right=new_sources[1])
        case UnionAll():
            return replace(plan, sources=new_sources)
        case Project() | Filter() | Aggregate() | Distinct() | Window() | Generate() | Limit():
            return replace(plan, source=new_sources[0])
        case _:
            assert_never(plan)


def map_sources(plan: Plan, visit: Rule) -> Plan:
    """The operator over what its inputs become; the very same object when these stay as they are."""
    before = sources(plan)
    after = tuple(visit(source) for source in before)
    if all(new is old for new, old in zip(after, before, strict=True)):
        return plan
    return with_sources(plan, after)


def with_expressions(plan: Plan, change: Callable[[exp.Expression], exp.Expression]) -> Plan:
    """The same operator with each of its scalar expressions changed; literal rows stay as they are."""

    def changed(columns: tuple[Named, ...]) -> tuple[Named, ...]:
        return tuple(Named(each.name, change(each.expression)) for each in columns)

    match plan:
        case Scan() | Changes() | Values() | Round() | Recursive() | UnionAll() | SetOperation() | Distinct():
            return plan
        case Project(source, columns):
            return Project(source, changed(columns))
        case Window(source, functions):
            return Window(source, changed(functions))
        case Aggregate(source, keys, aggregates):
            return Aggregate(source, changed(keys), changed(aggregates))
        case Filter(source, condition):
            return Filter(source, change(condition))
        case Join(left, right, kind, on):
            return Join(left, right, kind, change(on) if on is not None else None)
        case Generate(source, generator):
            return replace(plan, generator=change(generator))
        case Limit(source, order):
            return replace(plan, order=tuple(map(change, order)))
        case _:
            assert_never(plan)


def transform_up(plan: Plan, rule: Rule, settled: Mapping[int, Plan] = MappingProxyType({})) -> Plan:
    """Apply the rule once to every operator, inputs first; the very same object when nothing changed.

    A subplan that occurs several times as one object is rewritten once, and still is one object afterwards.
    ``settled``: by id, the operators that the rule would leave as they are, with all that lies below.
    """
    done: dict[int, Plan] = {}

    def visit(node: Plan) -> Plan:
        if id(node) in settled:
            return node
        if id(node) not in done:
            done[id(node)] = rule(map_sources(node, visit))
        return done[id(node)]

    return visit(plan)


def transform_down(plan: Plan, rule: Rule, settled: Callable[[Plan], Plan | None] = lambda _: None) -> Plan:
    """Apply the rule once to every operator, parents first; the inputs of what the rule returned come next.

    A subplan that occurs several times as one object is rewritten once. ``settled``: the input of an operator to which
    the rule need not be applied after the operator itself, only to what is below.
    """
    done: dict[int, tuple[Plan, Plan]] = {}  # with the operators themselves: an id is another's once its object is gone

    def visit(node: Plan) -> Plan:
        if id(node) not in done:
            done[id(node)] = node, below(rule(node))
        return done[id(node)][1]

    def below(node: Plan) -> Plan:
        spared = settled(node)
        return map_sources(node, lambda source: below(source) if source is spared else visit(source))

    return visit(plan)


def substitute(expression: exp.Expr, mapping: Mapping[str, exp.Expression]) -> exp.Expression:
    """A copy of the expression in which references to the mapped columns are replaced.

    >>> from sqlglot import parse_one
    >>> substitute(parse_one("a * 2"), {"a": parse_one("b + c")}).sql()
    '(b + c) * 2'
    >>> substitute(parse_one("a / b"), {"b": parse_one("3")}).sql()
    'a / CAST(3 AS INT)'
    """

    def swap(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.name not in mapping:
            return node
        value = mapping[node.name].copy()
        return _with_type(value, node) if _is_operand(node) else _as_operand(value, node)

    if isinstance(expression, exp.Column):  # most are: nothing to walk through
        return expect_expression(mapping.get(expression.name, expression).copy())
    return expect_expression(expression.transform(swap))


def as_operand(expression: exp.Expr) -> exp.Expression:
    """A copy that may stand beside any operator: in parentheses, unless it is a name, a literal or a call.

    >>> from sqlglot import parse_one
    >>> [as_operand(parse_one(sql)).sql() for sql in ("a", "abs(a)", "NOT a", "a IN (1)", "a AND b")]
    ['a', 'ABS(a)', '(NOT a)', '(a IN (1))', '(a AND b)']
    """
    copy = expect_expression(expression.copy())
    return exp.Paren(this=copy) if _is_loose(expression) else copy


def conjuncts(expression: exp.Expr | None) -> tuple[exp.Expression, ...]:
    """The operands of AND, flattened and without outer parentheses; nothing for None."""
    if expression is None:
        return ()
    bare = expression.unnest()
    if isinstance(bare, exp.And):
        return (*conjuncts(bare.left), *conjuncts(bare.right))
    return (expect_expression(bare),)


def both(*conditions: exp.Expr | None) -> exp.Expression | None:
    """All conditions joined by AND, flattened, each once, in order of appearance; None when there are none."""
    parts = dict.fromkeys(part for condition in conditions for part in conjuncts(condition))
    if not parts:
        return None
    return expect_expression(exp.and_(*parts) if len(parts) > 1 else next(iter(parts)).copy())


def struct_of(fields: Iterable[tuple[str | exp.Identifier, exp.Expr]]) -> exp.Struct:
    """``struct(x AS a, y AS b)`` of names and values.

    >>> struct_of([("a", exp.column("x")), ("b", exp.column("y"))]).sql("spark")
    'STRUCT(x AS a, y AS b)'
    """
    return exp.Struct(
        expressions=[exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in fields]
    )


def value_where(condition: exp.Expr, value: exp.Expr) -> exp.Case:
    """``CASE WHEN condition THEN value END``"""
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])


def condition_and_value(case: exp.Expr) -> tuple[exp.Expression, exp.Expression]:
    """What ``value_where`` made the CASE of."""
    (branch,) = case.args["ifs"]
    return expect_expression(branch.this), expect_expression(branch.args["true"])


def expect_expression(node: exp.Expr) -> exp.Expression:
    """The node itself, narrowed: sqlglot's functions are annotated with the trait, its nodes all are ``Expression``."""
    assert isinstance(node, exp.Expression)
    return node


def _is_operand(node: exp.Expr) -> bool:
    """Whether the node is added, multiplied, divided or the like."""
    above = node.parent
    while isinstance(above, exp.Paren | exp.Neg):
        above = above.parent
    return isinstance(above, _ARITHMETIC) or (
        isinstance(above, exp.Anonymous) and above.name.lower() in _OTHER_ARITHMETIC
    )


def _with_type(value: exp.Expr, replaced: exp.Expr) -> exp.Expr:
    """The value as an operand that counts as a column of its type does: beside a DECIMAL, a literal counts by its digits.

    Spark (``DecimalPrecision``) divides a DECIMAL(15,2) by ``3`` with 6 digits after the point, and by an INT with 13.
    """
    type_ = integer_type(value.unnest())
    if type_ not in INTEGRAL:
        return _as_operand(value, replaced)
    return exp.cast(value, type_, dialect="spark", copy=False)


def _as_operand(expression: exp.Expr, replaced: exp.Expr) -> exp.Expr:
    """The expression, in parentheses when the operator above the replaced node would otherwise tear it apart."""
    above = replaced.parent
    tight = isinstance(above, _OPERATORS) and not isinstance(above, exp.Paren)
    indexed = isinstance(above, exp.Bracket) and replaced.arg_key == "this"
    return exp.paren(expression, copy=False) if _is_loose(expression) and (tight or indexed) else expression


def _is_loose(expression: exp.Expr) -> bool:
    return isinstance(expression, _OPERATORS) and not isinstance(expression, exp.Paren | exp.Dot)


def without_parentheses(query: exp.Expr) -> exp.Expr:
    """``((SELECT …))`` → ``SELECT …``; parentheses with a clause of their own, as ``((SELECT …) LIMIT 1)``, stay.

    >>> from sqlglot import parse_one
    >>> [without_parentheses(parse_one(text)).sql() for text in ("((SELECT 1))", "((SELECT 1) LIMIT 0)")]
    ['SELECT 1', '(SELECT 1) LIMIT 0']
    """
    while isinstance(query, exp.Subquery) and {key for key, value in query.args.items() if value} == {"this"}:
        query = expect_expression(query.this)
    return query
