"""Comparisons of CHAR(n) columns with shorter or longer texts, with the blanks written out that Spark's analysis would add.

Spark pads such texts wherever it sees from a column's metadata that it is a CHAR (``ApplyCharTypePadding`` in its
catalyst): a column compared with constants, or with another CHAR column. A view's state is read as STRING, and the
comparison may be made there. What Spark does not pad, though a job spells it as such a comparison, is kept from it by
``CONCAT(c)``, of which nothing but the text is known: ``c IN (SELECT …)``, and UNION, INTERSECT or EXCEPT of other lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from ivm_core.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Named,
    Plan,
    Project,
    Scan,
    SetOperation,
    UnionAll,
    Window,
    base_tables,
    column,
    references,
    sources,
)
from ivm_core.plan.rewrite import as_operand, expect_expression, transform_up, with_expressions, with_sources
from ivm_core.plan.schema import TableSchema, type_of
from ivm_core.plan.types import char_length

Lengths = Mapping[str, int]
_COMPARED = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.EqualNull, exp.LT, exp.LTE, exp.GT, exp.GTE)
# In the ``meta`` of a comparison that stands for what Spark compares as it is.
AS_IT_IS = "compared as it is"


def pad_texts(plan: Plan, tables: Mapping[str, TableSchema]) -> Plan:
    """The plan with the texts in comparisons of CHAR columns padded; the plan itself where there are none to pad.

    σ_{c = 'ab'} R → σ_{c = 'ab   '} R for c: CHAR(5); R ⋈_{c = d} S → R ⋈_{rpad(c, 10) = d} S for d: CHAR(10).
    """
    lengths = {name: _lengths_of_table(tables[name]) for name in base_tables(plan) if name in tables}
    if not any(lengths.values()):
        return plan
    known: dict[int, tuple[Plan, Lengths]] = {}

    def of(node: Plan) -> Lengths:
        if id(node) not in known:
            known[id(node)] = node, _lengths(node, lengths, of)
        return known[id(node)][1]

    def pad(node: Plan) -> Plan:
        if isinstance(node, UnionAll | SetOperation):
            return _of_first_length(node, of)
        below = {name: length for source in sources(node) for name, length in of(source).items()}
        return with_expressions(node, lambda expression: _padded(expression, below)) if below else node

    return transform_up(plan, pad)


def _lengths_of_table(table: TableSchema) -> Lengths:
    """Column in lower case → n, of those that are CHAR(n)."""
    lengths = {name.lower(): char_length(type_) for name, type_ in table.columns}
    return {name: length for name, length in lengths.items() if length is not None}


def _lengths(plan: Plan, tables: Mapping[str, Lengths], of: Callable[[Plan], Lengths]) -> Lengths:
    """Output column → n, of those in which Spark sees a CHAR(n): passed on as they are, by whatever name."""
    match plan:
        case Scan(table, columns):
            found = tables.get(table, {})
            return {each.name: found[each.source.lower()] for each in columns if each.source.lower() in found}
        case Project(source, outputs):
            return _renamed(outputs, of(source))
        case Aggregate(source, keys):
            return _renamed(keys, of(source))
        case UnionAll(sources=inputs):
            first = {n: next((each for each in inputs if n not in _without_value(each)), inputs[0]) for n in plan.names}
            return {name: of(source)[name] for name, source in first.items() if name in of(source)}
        case SetOperation(left):
            return of(left)
        case Join() | Filter() | Distinct() | Window() | Generate() | Limit():
            below = {name: length for source in sources(plan) for name, length in of(source).items()}
            return {name: below[name] for name in plan.names if name in below}
        case _:
            return {}


def _without_value(plan: Plan) -> frozenset[str]:
    """The columns that one of several grouping sets leaves out."""
    columns = plan.columns if isinstance(plan, Project) else ()
    casts = ((each.name, each.expression) for each in columns if isinstance(each.expression, exp.Cast))
    return frozenset(name for name, cast in casts if isinstance(cast.this, exp.Null))


def _renamed(outputs: Sequence[Named], below: Lengths) -> Lengths:
    passed = {each.name: each.expression.name for each in outputs if isinstance(each.expression, exp.Column)}
    return {name: below[source] for name, source in passed.items() if source in below}


def _of_first_length(plan: UnionAll | SetOperation, of: Callable[[Plan], Lengths]) -> Plan:
    """Sources whose columns have another length than the first one's hand on texts only."""
    return with_sources(plan, tuple(_of_length(each, of(each), of(plan)) for each in sources(plan)))


def _of_length(plan: Plan, own: Lengths, wanted: Lengths) -> Plan:
    other = {name for name, length in own.items() if wanted.get(name) != length}
    if not other:
        return plan
    return Project(plan, tuple(Named(n, text_of(column(n)) if n in other else column(n)) for n in plan.names))


def _padded(expression: exp.Expression, lengths: Lengths) -> exp.Expression:
    if not references(expression) & lengths.keys():
        return expression
    return expect_expression(expression.transform(lambda node: _compared(node, lengths)))


def _compared(node: exp.Expr, lengths: Lengths) -> exp.Expr:
    """The comparison with the texts on both sides of one length."""
    match node:
        case exp.Expr(this=left, expression=right) if isinstance(node, _COMPARED):
            given = _of_one_length([left, right], lengths, as_it_is=bool(node.meta.get(AS_IT_IS)))
            node.set("this", given[0])
            node.set("expression", given[1])
        case exp.In(this=left, expressions=[_, *_] as listed) if not _is_char(left, lengths):
            # Only what is searched for is padded, with what it is compared with.
            node.set("expressions", [text_of(each) if _is_char(each, lengths) else each for each in listed])
        case exp.In(this=left, expressions=[_, *_] as listed):
            left, *listed = _of_one_length([left, *listed], lengths)
            node.set("this", left)
            node.set("expressions", listed)
        case exp.DecodeCase(expressions=[left, *others]) if _is_char(left, lengths):
            places = range(0, len(others) - 1, 2)  # of what it is compared with; the last may be the default
            left, *padded = _of_one_length([left, *(others[place] for place in places)], lengths)
            for place, value in zip(places, padded, strict=True):
                others[place] = value
            node.set("expressions", [left, *others])
        case exp.Case(this=exp.Expr() as left, args={"ifs": cases}) if _is_char(left, lengths):
            for case in cases:  # padded when it is visited itself
                case.set("this", exp.EQ(this=left.copy(), expression=as_operand(case.this)))
            node.set("this", None)
        case _:
            pass
    return node


def _of_one_length(values: list[exp.Expr], lengths: Lengths, *, as_it_is: bool = False) -> list[exp.Expr]:
    """The values, each padded to the longest where Spark would do so: of columns with lengths, or one and constants."""
    bare = [value.unnest() for value in values]
    columns = [value for value in bare if isinstance(value, exp.Column)]
    constants = [value for value in bare if _is_constant(value)]
    nulls = sum(isinstance(value, exp.Null) for value in bare)
    if not columns or not all(_is_char(value, lengths) for value in columns) or (len(columns) > 1 and constants):
        return values
    own = {lengths[value.name] for value in columns}
    if len(columns) + len(constants) + nulls < len(bare) or (not constants and len(own) == 1):
        return values
    if as_it_is:
        return [text_of(value) if isinstance(value, exp.Column) else value for value in bare]
    longest = max(*own, *map(_written_length, constants), 0)
    computed = [exp.Length(this=value.copy()) for value in constants if not isinstance(value, exp.Literal)]
    length: exp.Expression = exp.Literal.number(longest)
    if computed:
        length = exp.Greatest(this=length, expressions=computed, ignore_nulls=True)
    long_enough = {name: each for name, each in lengths.items() if each == longest and not computed}
    return [
        value if isinstance(value, exp.Null) or _is_char(value, long_enough) else _padded_to(length, value)
        for value in bare
    ]


def _is_char(value: exp.Expr, lengths: Lengths) -> bool:
    bare = value.unnest()
    return isinstance(bare, exp.Column) and bare.name in lengths


def _is_constant(value: exp.Expr) -> bool:
    return value.find(exp.Column, exp.Query, exp.Placeholder) is None and type_of(value, {}) == "string"


def _written_length(value: exp.Expr) -> int:
    return len(value.name) if isinstance(value, exp.Literal) else 0


def _padded_to(length: exp.Expression, value: exp.Expr) -> exp.Expression:
    if isinstance(value, exp.Literal) and isinstance(length, exp.Literal):
        return exp.Literal.string(value.name.ljust(int(length.name)))
    blank = exp.Literal.string(" ")
    return exp.Pad(this=value.copy(), expression=length.copy(), fill_pattern=blank, is_left=False)


def text_of(value: exp.Expr) -> exp.Expression:
    """The value as one of which nothing but the text is known."""
    return exp.Anonymous(this="concat", expressions=[value.unnest().copy()])
