"""What a name means at a place in a query: the visible columns, common table expressions and enclosing queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from sqlglot import exp

from ivm_core.errors import DefinitionError, UnknownColumnError, UnsupportedConstruct
from ivm_core.plan.clock import clock_column
from ivm_core.plan.functions import is_generator, spell_function, sql_name
from ivm_core.plan.lambdas import bind_parameters
from ivm_core.plan.nodes import Plan, Round, column
from ivm_core.plan.padding import text_of
from ivm_core.plan.rewrite import expect_expression, substitute, without_parentheses
from ivm_core.plan.rows import name_fields
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.statement import position
from ivm_core.plan.to_sql_names import unused
from ivm_core.plan.types import char_length
from ivm_core.plan.types_plan import types_of


@dataclass(frozen=True, slots=True)
class Field:
    """A column that a query can name: ``label`` as users write it, ``name`` in the plan, ``qualifier`` in lower case."""

    label: str
    name: str
    qualifier: tuple[str, ...] = ()
    starred: bool = True  # part of SELECT *; False for the two sides of a USING column

    def is_of(self, qualifier: tuple[str, ...]) -> bool:
        """Whether the qualifier, in lower case, names its table: ``t``, ``s.t`` or ``spark_catalog.s.t``."""
        if len(self.qualifier) == 2 and len(qualifier) == 3 and qualifier[0] == "spark_catalog":
            qualifier = qualifier[1:]
        return self.qualifier[-len(qualifier) :] == qualifier


@dataclass(frozen=True, slots=True)
class Relation:
    """A bound query or table.

    ``correlated`` holds conditions between its columns and those of the enclosing query, still to be applied.
    ``values``: what the fields stand for once the relation is outer-joined to the enclosing query (an aggregate over
    no rows is a row too); empty where the fields are simply columns of the plan. ``having``: where such a row is there.
    """

    plan: Plan
    fields: tuple[Field, ...]
    correlated: tuple[exp.Expression, ...] = ()
    values: tuple[exp.Expression, ...] = ()
    having: exp.Expression | None = None
    one_row: bool = False  # exactly one row
    at_most_one_row: bool = False  # for each row of the enclosing query

    def qualified(self, qualifier: tuple[str, ...], labels: tuple[str, ...] = ()) -> tuple[Field, ...]:
        """The starred fields under an alias, and under new labels if there are any."""
        fields = tuple(f for f in self.fields if f.starred)
        if not labels:
            return tuple(replace(f, qualifier=qualifier or f.qualifier) for f in fields)
        return tuple(Field(label, f.name, qualifier) for label, f in zip(labels, fields, strict=True))


@dataclass(frozen=True, slots=True)
class Cte:
    """A common table expression, bound anew wherever it is used."""

    query: exp.Expr
    labels: tuple[str, ...]
    scope: Scope
    recursive: bool = False  # it reads itself
    shared: bool = False  # it is read in more than one place
    rounds: Round | None = None  # inside its own step: the rows of the round before


@dataclass
class Context:
    """What the binding of one query shares: the tables, the names given so far, subqueries set aside."""

    tables: Mapping[str, TableSchema]
    default_schema: str
    bind: Callable[[exp.Expr, Scope], Relation]
    hints: dict[str, tuple[str, str]] = field(default_factory=dict)
    subqueries: dict[str, exp.Expr] = field(default_factory=dict)
    recursions: list[str] = field(default_factory=list)
    settled: set[str] = field(default_factory=set)  # columns of windows and aggregates whose choices are made already

    def value_of(self, plan: Plan, name: str) -> exp.Expression:
        """A scalar subquery's column; where a table of the query has a CHAR, so that Spark does not see that it is one."""
        types = (type_ for table in self.tables.values() for _, type_ in table.columns)
        may_be_char = types_of(plan).get(name) == "string" and any(char_length(type_) for type_ in types)
        return text_of(column(name)) if may_be_char else column(name)

    def fresh(self, label: str, alias: str = "") -> str:
        """A provisional column name, unique in the query; ``naming`` replaces it by one made of label and alias."""
        name = f"#{len(self.hints)}"
        self.hints[name] = (label, alias)
        return name

    def recursion(self, label: str) -> str:
        """The name of one use of a recursive common table expression, unique in the query."""
        taken = set(self.recursions)
        name = unused(label, taken)
        self.recursions.append(name)
        return name

    def set_aside(self, query: exp.Expr) -> exp.Placeholder:
        """A mark that stands for a subquery inside an expression."""
        name = f"subquery{len(self.subqueries)}"
        self.subqueries[name] = query
        return exp.Placeholder(this=name)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names visible at one place. ``aliases``: SELECT items that later items may name, already bound.

    ``clock``: the names that this place has given to the clock's columns so far; None where time cannot be told.
    """

    context: Context
    ctes: Mapping[str, Cte]
    fields: tuple[Field, ...] = ()
    aliases: Mapping[str, exp.Expression] = field(default_factory=dict)
    outer: Scope | None = None
    aliases_first: bool = False  # ORDER BY sees the output before the input
    plan: Plan | None = None  # of an enclosing query: what its rows are where the subquery stands
    beside: Plan | None = None  # for LATERAL: the rows that the subquery's FROM is joined to, which the result keeps
    clock: dict[str, str] | None = None

    @property
    def around(self) -> Plan | None:
        """The rows of the enclosing query, where there is one."""
        return self.outer.plan if self.outer is not None else None

    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*(f.label for f in self.fields), *self.aliases)))


def resolve(expression: exp.Expr, scope: Scope) -> exp.Expression:
    """A copy over plan columns: each name looked up, each subquery set aside behind a placeholder."""
    substitutions: dict[str, exp.Expression] = {}

    def swap(node: exp.Expr) -> exp.Expr:
        match node:
            case _ if is_generator(node):
                raise refusal(f"{sql_name(node)}() inside an expression", node, "Put it into FROM or a LATERAL VIEW.")
            case exp.Anonymous() if sql_name(node) == "session_window":
                raise refusal(
                    "session_window()", node, "Tell sessions by lag() and a running sum over window functions."
                )
            case exp.Anonymous() if sql_name(node) == "window":
                raise refusal("window() outside SELECT and GROUP BY", node, "Select it in a subquery.")
            case exp.Column(this=exp.Star()):
                raise refusal("* inside an expression", node, "List the columns.")
            case exp.Star() if not isinstance(node.parent, exp.Count | exp.Distinct):
                raise refusal("* inside an expression", node, "List the columns.")
            case exp.CurrentDate() | exp.CurrentTimestamp() if "start" not in node.meta and _is_field(node, scope):
                return _look_up(exp.column(node.sql_name().lower()), scope)  # written like a column, and there is one
            case _ if (read := clock_column(node)) is not None:
                return _tell_time(read, node, scope)
            case exp.Column():
                found = _look_up(node, scope)
                if isinstance(found, exp.Column):
                    found.this.meta.update(node.this.meta)  # the place in the text, for complaints
                if isinstance(found, exp.Column | exp.Dot):
                    return found
                # Replaced in a second step, because an operator may need parentheses where it lands.
                name = f"alias{len(substitutions)}"
                substitutions[name] = found
                return column(name)
        return node

    bound = expect_expression(_prepare(expression, scope.context).transform(swap, copy=False))
    for function in bound.find_all(exp.Lambda):
        if function.find(exp.Placeholder):
            raise refusal("a subquery in a lambda function", function)
    return substitute(bound, substitutions) if substitutions else bound


def _prepare(expression: exp.Expr, context: Context) -> exp.Expression:
    """A copy with its subqueries set aside, to be bound on their own, and functions and rows spelled as Spark knows them."""

    def prepare(node: exp.Expr) -> exp.Expr:
        match node:
            case exp.Placeholder() | exp.Parameter():
                raise refusal("a parameter marker", node, "Write the value into the query.")
            case exp.Exists(this=exp.Limit() | exp.Order() | exp.Offset()):
                raise refusal(
                    "LIMIT or ORDER BY of a query in parentheses in EXISTS", node, "Leave the parentheses out."
                )
            case exp.Any(this=this) | exp.All(this=this) if isinstance(this.unnest(), exp.Query):
                raise refusal(f"{node.key.upper()} (subquery)", node, _instead_of_quantifier(node))
            case exp.Query() | exp.Values():
                return context.set_aside(without_parentheses(node))
            case _:
                return name_fields(spell_function(node))

    prepared = expect_expression(expression.transform(prepare))
    for test in prepared.find_all(exp.In):
        match test.expressions:
            case [exp.Placeholder() as rows]:  # IN (VALUES …)
                test.set("query", rows)
                test.set("expressions", None)
    return bind_parameters(prepared)


def _instead_of_quantifier(node: exp.Any | exp.All) -> str:
    """What to write for ``x > ANY (…)``, which Spark does not parse: true for the same rows, false where that is unknown."""
    match node, node.parent:
        case exp.Any(), exp.EQ():
            return "Spark has no such comparison: write x IN (SELECT …)."
        case exp.All(), exp.NEQ():
            return "Spark has no such comparison: write x NOT IN (SELECT …)."
        case exp.Any(), _:
            return "Spark has no such comparison: write EXISTS (SELECT 1 FROM … WHERE x > y), with its operator."
        case _:
            return (
                "Spark has no such comparison: write NOT EXISTS (SELECT 1 FROM … WHERE NOT coalesce(x > y, false)), "
                "with its operator."
            )


def match_field(scope: Scope, parts: tuple[str, ...], node: exp.Expr) -> tuple[Field, tuple[str, ...]] | None:
    """The field that ``a.b.c`` names at this level, with the struct fields below it; raises when there are two."""
    lowered = tuple(part.lower() for part in parts)
    for depth in range(len(parts) - 1, -1, -1):
        qualifier, label = lowered[:depth], lowered[depth]
        found = [f for f in scope.fields if f.label.lower() == label and (f.is_of(qualifier) if depth else f.starred)]
        if len({f.name for f in found}) > 1:
            tables = ", ".join(sorted(".".join((*f.qualifier, f.label)) for f in found))
            raise complaint(
                UnknownColumnError, f"{'.'.join(parts)!r} is ambiguous: it may be {tables}. Qualify it.", node
            )
        if found:
            return found[0], parts[depth + 1 :]
    return None


def complaint(kind: type[DefinitionError], message: str, node: exp.Expr | None, construct: str = "") -> DefinitionError:
    """An error placed at an expression."""
    line, column_ = position(node)
    return kind(message, construct=construct, line=line, column=column_)


def refusal(construct: str, node: exp.Expr | None, advice: str = "") -> DefinitionError:
    """UnsupportedConstruct for ``construct``, with what to do instead."""
    message = f"{construct[:1].upper()}{construct[1:]} cannot be kept in a view. {advice}".strip()
    return complaint(UnsupportedConstruct, message, node, construct)


def _look_up(node: exp.Column, scope: Scope) -> exp.Expression:
    parts = tuple(part.name for part in node.parts)
    level: Scope | None = scope
    while level is not None:
        alias = level.aliases.get(parts[0].lower())
        if alias is not None and level.aliases_first and len(parts) == 1:
            return alias
        match = match_field(level, parts, node)
        hidden = match is None or len(match[1]) == len(parts) - 1  # a struct column, not a qualifier
        if alias is not None and level.aliases_first and hidden:
            return _struct_field(alias, parts[1:])
        if match is not None:
            return _struct_field(column(match[0].name), match[1])
        if alias is not None:
            return _struct_field(alias, parts[1:])
        level = level.outer
    known = scope.labels()
    close = get_close_matches(parts[-1].lower(), [label.lower() for label in known], n=3)
    hint = f"Did you mean {', '.join(close)}?" if close else f"Known are {', '.join(known[:20]) or 'none'}."
    raise complaint(UnknownColumnError, f"There is no column {'.'.join(parts)!r} here. {hint}", node)


def _is_field(node: exp.Func, scope: Scope) -> bool:
    level: Scope | None = scope
    while level is not None:
        if match_field(level, (node.sql_name(),), node) is not None:
            return True
        level = level.outer
    return False


def _tell_time(read: str, node: exp.Expr, scope: Scope) -> exp.Column:
    if scope.clock is None:
        raise refusal("the time in VALUES or in the ORDER BY of a set operation", node, "Use it in a SELECT.")
    if read not in scope.clock:
        scope.clock[read] = scope.context.fresh(read, "clock")
    told = column(scope.clock[read])
    told.this.meta.update(node.meta)
    return told


def _struct_field(expression: exp.Expression, path: tuple[str, ...]) -> exp.Expression:
    for part in path:
        expression = exp.Dot(this=expression, expression=exp.to_identifier(part, quoted=True))
    return expression
