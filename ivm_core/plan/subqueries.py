"""Subqueries in expressions become joins: EXISTS and IN semi joins, scalar subqueries joins with one-row aggregates.

Decorrelation follows Neumann and Kemper, "Unnesting Arbitrary Queries" (2015), for the cases in which the correlated
conditions can be moved to the join itself.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.plan.block import Block
from ivm_core.plan.clock import join_clock
from ivm_core.plan.correlation import with_own_rows
from ivm_core.plan.from_sql_aggregates import has_aggregate
from ivm_core.plan.from_sql_order import row_count
from ivm_core.plan.nodes import Filter, Join, JoinKind, Named, Plan, Project, UnionAll, column, keep, references
from ivm_core.plan.padding import AS_IT_IS
from ivm_core.plan.rewrite import as_operand, both, conjuncts, expect_expression, substitute, value_where
from ivm_core.plan.scope import Relation, Scope, refusal
from ivm_core.plan.single_value import join_single_value


def apply_conditions(block: Block, condition: exp.Expression) -> None:
    """Keep the rows for which a resolved condition is true; plain conditions first, as they make the rest cheaper."""
    block.plan = join_clock(block.plan, block.scope.clock, condition)
    parts = [_negation_inside(part) for part in conjuncts(condition)]
    plain = [part for part in parts if not part.find(exp.Placeholder)]
    local = [part for part in plain if references(part) <= set(block.plan.names)]
    if local:
        block.plan = Filter(block.plan, _all(local))
    block.correlated.extend(part for part in plain if part not in local)
    for part in parts:
        if part.find(exp.Placeholder) and not _filter_by_join(block, part):
            value = attach(block, part)
            if references(value) <= set(block.plan.names):
                block.plan = Filter(block.plan, value)
            else:
                block.correlated.append(value)


def attach(block: Block, expression: exp.Expression) -> exp.Expression:
    """The expression with each subquery replaced by columns that are joined to the block's plan."""
    block.plan = join_clock(block.plan, block.scope.clock, expression)
    expression = _negated_tests(expression.copy())
    mapping: dict[str, exp.Expression] = {}

    def swap(node: exp.Expr) -> exp.Expr:
        match node:
            case exp.Exists(this=exp.Placeholder() as mark):
                value: exp.Expression = column(_mark_exists(block, mark))
            case exp.Not() if is_in(node.this.unnest()):
                value = _mark_in(block, expect_expression(node.this.unnest()), negated=True)
            case _ if is_in(node):
                value = _mark_in(block, expect_expression(node), negated=False)
            case exp.Placeholder():
                value = _scalar(block, node)
            case _:
                return node
        name = f"mark{len(mapping)}"
        mapping[name] = value
        return column(name)

    marked = expect_expression(expression.transform(swap, copy=False))
    return substitute(marked, mapping) if mapping else marked


def _filter_by_join(block: Block, part: exp.Expression) -> bool:
    """[NOT] EXISTS and [NOT] IN as a condition of its own: a semi or anti join."""
    negated = isinstance(part, exp.Not)
    test = part.this.unnest() if isinstance(part, exp.Not) else part
    if isinstance(test, exp.Exists) and isinstance(test.this, exp.Placeholder):
        inner = _inner(block, test.this, exists=True)
        if (inner.one_row and not inner.correlated) or inner.values:
            if negated or inner.having is not None:
                there = _join_having(block, inner, test)
                block.plan = Filter(block.plan, exp.Not(this=there) if negated else there)
            return True
        condition = both(*inner.correlated)
    elif is_in(test):
        inner = _inner(block, test.args["query"])
        if inner.values:
            return False
        membership = _membership(block, test, inner)
        # NOT IN keeps a row only if the comparison is false for every row on the right, never unknown.
        if negated:
            membership = _or_unknown(membership, inner)
        condition = both(membership, *inner.correlated)
    else:
        return False
    check_reach(condition, block.plan, inner.plan, test)
    block.plan = Join(block.plan, inner.plan, JoinKind.ANTI if negated else JoinKind.SEMI, condition)
    return True


def _inner(block: Block, mark: exp.Placeholder, exists: bool = False) -> Relation:
    scope = block.scope
    query = scope.context.subqueries[str(mark.this)]
    if exists:
        query = _without_output(query)
    return scope.context.bind(query, _inside(block))


def _inside(block: Block) -> Scope:
    """What a subquery sees that stands over the block's plan."""
    return Scope(block.scope.context, block.scope.ctes, outer=replace(block.scope, plan=block.plan))


def _without_output(query: exp.Expr) -> exp.Expr:
    """EXISTS asks for rows only: the SELECT list of a plain query, DISTINCT, ORDER BY and LIMIT n ≥ 1 do not matter."""
    if not isinstance(query, exp.Select):
        return query
    query = query.copy()
    if query.args.get("offset") is None and row_count(query, "limit") != 0:
        query.set("limit", None)
        query.set("order", None)
        query.set("distinct", None)
        plain = not any(query.args.get(part) for part in ("group", "having", "qualify", "limit"))
        if plain and not any(_makes_rows(item) for item in query.expressions):
            query.set("expressions", [exp.alias_(exp.Literal.number(1), "one")])
    return query


def _makes_rows(item: exp.Expr) -> bool:
    """Whether the item may decide how many rows there are: an aggregate, a generator, a function that may be either."""
    return has_aggregate(item) or item.find(exp.AggFunc, exp.UDTF, exp.Anonymous) is not None


def _membership(block: Block, test: exp.Expr, inner: Relation) -> exp.Expression:
    """``(a, b) IN (SELECT x, y …)`` → ``a = x AND b = y``."""
    operands = test.this.expressions if isinstance(test.this, exp.Tuple) else [test.this.unnest()]
    if len(operands) != len(inner.fields):
        raise refusal(f"IN with {len(operands)} values against {len(inner.fields)} columns", test)
    if any(operand.find(exp.Placeholder) for operand in operands):
        operands = [attach(block, operand) for operand in operands]
    pairs = zip(operands, inner.fields, strict=True)
    tests: list[exp.Expression] = [exp.EQ(this=as_operand(operand), expression=column(f.name)) for operand, f in pairs]
    for equality in tests:
        equality.meta[AS_IT_IS] = True
    return _all(tests)


def _scalar(block: Block, mark: exp.Placeholder) -> exp.Expression:
    """A scalar subquery's value as an expression over the block's plan, which is joined with its rows."""
    query = block.scope.context.subqueries[str(mark.this)]
    inner = _inner(block, mark)
    if len(inner.fields) != 1:
        raise refusal(f"a scalar subquery with {len(inner.fields)} columns", query)
    condition = both(*inner.correlated)
    check_reach(condition, block.plan, inner.plan, query)
    if not (inner.at_most_one_row or inner.values):
        return join_single_value(block, inner)
    outer = condition is not None or not inner.one_row
    kind = JoinKind.LEFT if outer else JoinKind.INNER
    block.plan = Join(block.plan, inner.plan, kind, condition if condition is not None or not outer else exp.true())
    if not inner.values:
        return block.scope.context.value_of(inner.plan, inner.fields[0].name)
    return inner.values[0] if inner.having is None else value_where(inner.having, inner.values[0])


def _mark_exists(block: Block, mark: exp.Placeholder) -> str:
    """EXISTS as a value: the rows with a match tagged true, the others tagged false."""
    inner = _inner(block, mark, exists=True)
    name = block.scope.context.fresh("exists")
    names = block.plan.names
    if (inner.one_row and not inner.correlated) or inner.values:
        there = _join_having(block, inner, mark)
        block.plan = Project(block.plan, (*keep(names), Named(name, there)))
        return name
    condition = both(*inner.correlated)
    check_reach(condition, block.plan, inner.plan, mark)
    tagged = tuple(
        Project(Join(block.plan, inner.plan, kind, condition), (*keep(names), Named(name, value)))
        for kind, value in ((JoinKind.SEMI, exp.true()), (JoinKind.ANTI, exp.false()))
    )
    block.plan = UnionAll(tagged)
    return name


def _join_having(block: Block, inner: Relation, node: exp.Expr) -> exp.Expression:
    """Whether there is the one row of an aggregate over all rows, which HAVING may drop; never unknown."""
    if inner.having is None:
        return exp.true()
    condition = both(*inner.correlated)
    check_reach(condition, block.plan, inner.plan, node)
    block.plan = Join(block.plan, inner.plan, JoinKind.LEFT, condition)
    return exp.Coalesce(this=inner.having.copy(), expressions=[exp.false()])


def _mark_in(block: Block, test: exp.Expression, negated: bool) -> exp.Expression:
    """``[NOT] IN`` as a value: as in Spark, and unlike the standard, false where it cannot be told."""
    inner = _inner(block, test.args["query"])
    if inner.having is not None and negated:  # where HAVING drops the row, NOT IN is true
        inner = with_own_rows(inner, _inside(block))
    if inner.values:
        operand = test.this.unnest()
        if operand.find(exp.Placeholder):
            operand = attach(block, operand)
        equal = exp.EQ(this=as_operand(operand), expression=as_operand(_scalar(block, test.args["query"])))
        return exp.NullSafeEQ(this=exp.paren(equal), expression=exp.false() if negated else exp.true())
    membership = _membership(block, test, inner)
    if negated:
        membership = _or_unknown(membership, inner)
    condition = both(membership, *inner.correlated)
    check_reach(condition, block.plan, inner.plan, test)
    name = block.scope.context.fresh("in")
    tagged = (
        Project(Join(block.plan, inner.plan, kind, condition), (*keep(block.plan.names), Named(name, value)))
        for kind, value in (
            (JoinKind.SEMI, exp.false() if negated else exp.true()),
            (JoinKind.ANTI, exp.true() if negated else exp.false()),
        )
    )
    block.plan = UnionAll(tuple(tagged))
    return column(name)


def check_reach(condition: exp.Expression | None, left: Plan, right: Plan, node: exp.Expr) -> None:
    if condition is not None and not references(condition) <= {*left.names, *right.names}:
        raise refusal("a subquery that refers past the query around it", node, "Join the tables instead.")


def is_in(node: exp.Expr) -> bool:
    return isinstance(node, exp.In) and isinstance(node.args.get("query"), exp.Placeholder)


def _or_unknown(membership: exp.Expression, inner: Relation) -> exp.Expression:
    """What NOT IN must find nowhere. This spelling is the one that Spark recognises as a null-aware anti join.

    Of a single row it is spelt the other way round: there Spark 4.2 looks an INT up among BIGINTs if the row is a literal.
    """
    unknown = exp.Is(this=as_operand(membership), expression=exp.null())
    return expect_expression(exp.or_(unknown, membership) if inner.one_row else exp.or_(membership, unknown))


def _negated_tests(expression: exp.Expression) -> exp.Expression:
    """``NOT (a IN (…) AND b)`` → ``a NOT IN (…) OR NOT b``: IN and NOT IN are two tests, neither ever unknown."""

    def inside(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Not | exp.EQ | exp.NEQ) or not any(is_in(found) for found in node.find_all(exp.In)):
            return node
        if not isinstance(node, exp.Not):
            simplified = _compared_with_boolean(node)
            return node if simplified is None else exp.paren(_negated_tests(simplified))
        match node.this.unnest():
            case exp.Not() as negation:
                return exp.paren(_negated_tests(expect_expression(negation.this.unnest())))
            case exp.EQ() | exp.NEQ() as test if (simplified := _compared_with_boolean(test)) is not None:
                return exp.paren(_negated_tests(exp.Not(this=exp.paren(simplified))))
            case exp.And() | exp.Or() as test:
                parts = [_negated_tests(exp.Not(this=exp.paren(part.unnest()))) for part in (test.left, test.right)]
                return exp.paren(exp.or_(*parts) if isinstance(test, exp.And) else exp.and_(*parts))
            case _:
                return node

    return expect_expression(expression.transform(inside, copy=False))


def _compared_with_boolean(test: exp.EQ | exp.NEQ) -> exp.Expression | None:
    """``a = TRUE`` → ``a``, ``a <> TRUE`` → ``NOT a``, as Spark simplifies it; None where no side is TRUE or FALSE."""
    sides = [expect_expression(side.unnest()) for side in (test.this, test.expression)]
    for value, other in (sides, reversed(sides)):
        if isinstance(value, exp.Boolean):
            return other if value.this is isinstance(test, exp.EQ) else exp.Not(this=exp.paren(other))
    return None


def _negation_inside(part: exp.Expression) -> exp.Expression:
    """``NOT (NOT a)`` → ``a``, so that NOT stands at most once before a subquery test."""
    while isinstance(part, exp.Not) and isinstance(part.this.unnest(), exp.Not):
        part = expect_expression(part.this.unnest().this.unnest())
    return part


def _all(parts: list[exp.Expression]) -> exp.Expression:
    combined = both(*parts)
    assert combined is not None
    return combined
