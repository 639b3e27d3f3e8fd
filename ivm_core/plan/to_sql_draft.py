"""A SELECT under construction: operators are merged into it for as long as SQL's order of clauses allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count as count_from

from sqlglot import exp

from ivm_core.plan.nodes import JoinKind, Named
from ivm_core.plan.rewrite import both, expect_expression, substitute
from ivm_core.plan.to_sql_names import unused

NOTHING = "__ivm_nothing"  # the column of a SELECT without columns, which SQL does not have
_REPEATABLE_NODES = 8  # an expression up to this size may be written twice rather than nested

_tokens = count_from()


@dataclass(frozen=True, slots=True)
class Relation:
    """A FROM item. ``token`` stands for its alias until the SELECT is complete and all names are known.

    ``source`` is a table, a VALUES list, a query, or (as lateral view) a row-generating function call.
    """

    token: str
    source: exp.Expr
    hint: str  # the alias, if it is free
    outputs: tuple[str, ...] = ()  # columns named by the alias: of VALUES and lateral views
    kind: JoinKind | None = None  # None: the first item, or a lateral view
    on: exp.Expression | None = None
    lateral: bool = False
    outer: bool = False

    def reference(self, name: str) -> exp.Column:
        """A reference to the relation's column."""
        return exp.column(exp.to_identifier(name, quoted=True), table=self.token)


@dataclass(frozen=True, slots=True)
class Draft:
    """SELECT columns FROM relations WHERE … GROUP BY keys ORDER BY … LIMIT … OFFSET …, not yet spelled out."""

    columns: tuple[Named, ...]
    relations: tuple[Relation, ...] = ()
    where: tuple[exp.Expression, ...] = ()
    keys: tuple[exp.Expression, ...] | None = None  # () for one group of all rows, None for no grouping
    distinct: bool = False
    order: tuple[exp.Expression, ...] = ()
    count: int | None = None
    offset: int = 0

    @property
    def is_limited(self) -> bool:
        return self.count is not None or self.offset > 0

    @property
    def is_windowed(self) -> bool:
        computed = (column.expression for column in self.columns if not isinstance(column.expression, exp.Column))
        return any(expression.find(exp.Window) for expression in computed)

    @property
    def is_rows(self) -> bool:
        """Nothing but FROM, WHERE and row-wise columns so far."""
        return not (self.keys is not None or self.distinct or self.is_limited or self.is_windowed)

    @property
    def is_pass_through(self) -> bool:
        """All columns are columns of FROM, under their own names."""
        return all(isinstance(c.expression, exp.Column) and c.expression.name == c.name for c in self.columns)

    @property
    def has_plain_columns(self) -> bool:
        """All columns are columns of FROM, perhaps renamed."""
        return all(isinstance(column.expression, exp.Column) for column in self.columns)

    @property
    def by_name(self) -> dict[str, exp.Expression]:
        return {column.name: column.expression for column in self.columns}

    def resolve(self, expression: exp.Expr) -> exp.Expression:
        """The expression over the draft's columns, as one over its FROM items."""
        return substitute(expression, self.by_name)

    def resolve_all(self, columns: Iterable[Named]) -> tuple[Named, ...]:
        """The same for output columns."""
        return tuple(Named(column.name, self.resolve(column.expression)) for column in columns)

    def repeats(self, expressions: Iterable[exp.Expr]) -> bool:
        """Whether resolving the expressions would spell out a long computation more than once."""
        uses = Counter(column.name for expression in expressions for column in expression.find_all(exp.Column))
        return any(uses[name] > 1 and _is_long(expression) for name, expression in self.by_name.items())


def new_relation(source: exp.Expr, hint: str, outputs: tuple[str, ...] = ()) -> Relation:
    """A FROM item with a token of its own."""
    return Relation(token=f"#{next(_tokens)}", source=source, hint=hint, outputs=outputs)


def select_from(relation: Relation, names: tuple[str, ...]) -> Draft:
    """SELECT names FROM the relation."""
    return Draft(tuple(Named(name, relation.reference(name)) for name in names), (relation,))


def nest(draft: Draft, hint: str) -> Draft:
    """The draft as a nested SELECT, below a new one that passes its columns through."""
    return select_from(new_relation(seal(draft), hint), tuple(column.name for column in draft.columns))


def lateral_view(draft: Draft, generator: exp.Expr, outputs: tuple[str, ...], outer: bool) -> Draft:
    """The draft with a row-generating function applied to each of its rows."""
    call = draft.resolve(generator)
    view = replace(new_relation(call, "generated", outputs), lateral=True, outer=outer)
    generated = tuple(Named(name, view.reference(name)) for name in outputs)
    return replace(draft, columns=(*draft.columns, *generated), relations=(*draft.relations, view))


def seal(draft: Draft) -> exp.Query:
    """The finished query; a query that was nested to no purpose is returned as it was."""
    inner = _sole_query(draft)
    return inner if inner is not None else seal_select(draft)


def seal_select(draft: Draft) -> exp.Select:
    """The finished query as a SELECT of its own."""
    draft = _name_relations(draft)
    projections = [_project(column) for column in draft.columns] or [_alias(exp.Literal.number(1), NOTHING)]
    query = exp.Select(expressions=projections)
    if draft.distinct:
        query.set("distinct", exp.Distinct())
    for relation in draft.relations:
        _attach(query, relation)
    if draft.where:
        query.set("where", exp.Where(this=both(*draft.where)))
    if draft.keys:
        query.set("group", exp.Group(expressions=list(draft.keys)))
    if draft.is_limited and draft.order:
        query.set("order", exp.Order(expressions=[key.copy() for key in draft.order]))
    if draft.count is not None:
        query.set("limit", exp.Limit(expression=exp.Literal.number(draft.count)))
    if draft.offset:
        query.set("offset", exp.Offset(expression=exp.Literal.number(draft.offset)))
    return query


def _sole_query(draft: Draft) -> exp.Query | None:
    match draft.relations:
        case (Relation(source=exp.Query() as query),) if (
            draft.is_rows and not draft.where and draft.is_pass_through and draft.columns
        ):
            names = [column.name for column in draft.columns]
            return query if query.named_selects == names else None
    return None


def _attach(query: exp.Select, relation: Relation) -> None:
    alias = exp.TableAlias(this=exp.to_identifier(relation.token)) if relation.token else None
    if alias is not None and relation.outputs:
        alias.set("columns", [exp.to_identifier(name) for name in relation.outputs])
    source = relation.source if relation.source.parent is None else relation.source.copy()  # most stand in one place
    if relation.lateral:
        query.append("laterals", exp.Lateral(this=source, view=True, outer=relation.outer, alias=alias))
        return
    item = exp.Subquery(this=source) if isinstance(source, exp.Query) else source
    item.set("alias", alias)
    if relation.kind is None:
        query.set("from_", exp.From(this=item))
    else:
        query.append("joins", _join(relation.kind, item, relation.on))


def _join(kind: JoinKind, item: exp.Expr, condition: exp.Expression | None) -> exp.Join:
    join = exp.Join(this=item, on=condition if condition is not None else exp.true())
    match kind:
        case JoinKind.INNER if condition is None:
            return exp.Join(this=item, kind="CROSS")
        case JoinKind.INNER:
            pass
        case JoinKind.LEFT | JoinKind.RIGHT | JoinKind.FULL:
            join.set("side", kind.value.upper())
        case JoinKind.SEMI | JoinKind.ANTI:
            join.set("side", "LEFT")
            join.set("kind", kind.value.upper())
    return join


def _project(column: Named) -> exp.Expr:
    expression = column.expression
    if isinstance(expression, exp.Column) and expression.name == column.name:
        return expression
    return _alias(expression, column.name)


def _alias(expression: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=expression, alias=exp.to_identifier(name))


def _name_relations(draft: Draft) -> Draft:
    """Replace tokens by aliases, or drop them where bare column names mean the same."""
    taken: set[str] = set()
    sole = draft.relations[0] if len(draft.relations) == 1 else None
    if sole is not None and not _collides(draft) and not _is_called_like_a_struct(draft, sole):
        keeps_alias = not isinstance(sole.source, exp.Table)
        aliases = {sole.token: unused(sole.hint, taken) if keeps_alias else ""}
        return _rename(draft, aliases, qualified=False)
    return _rename(
        draft, {relation.token: unused(relation.hint, taken) for relation in draft.relations}, qualified=True
    )


def _rename(draft: Draft, aliases: Mapping[str, str], *, qualified: bool) -> Draft:
    """The draft over aliases; its expressions are new ones, to be built into a query as they are."""

    def over(expression: exp.Expr) -> exp.Expression:
        copy = expect_expression(expression.copy())
        for column in (copy,) if isinstance(copy, exp.Column) else list(copy.find_all(exp.Column)):
            if column.table in aliases:
                column.set("table", exp.to_identifier(aliases[column.table]) if qualified else None)
        return copy

    return replace(
        draft,
        columns=tuple(Named(column.name, over(column.expression)) for column in draft.columns),
        relations=tuple(
            replace(
                relation,
                token=aliases[relation.token],
                on=over(relation.on) if relation.on is not None else None,
                source=over(relation.source) if relation.lateral else relation.source,
            )
            for relation in draft.relations
        ),
        where=tuple(over(condition) for condition in draft.where),
        keys=tuple(over(key) for key in draft.keys) if draft.keys is not None else None,
    )


def _is_called_like_a_struct(draft: Draft, relation: Relation) -> bool:
    """Whether ``name.field`` of a struct would be taken for the relation's own column ``field``."""
    names = {relation.hint.lower(), relation.source.name.lower() if isinstance(relation.source, exp.Table) else ""}
    fields = (found.this for each in _expressions(draft) for found in each.find_all(exp.Dot))
    return any(isinstance(base, exp.Column) and base.name.lower() in names for base in fields)


def _expressions(draft: Draft) -> list[exp.Expression]:
    return [*(column.expression for column in draft.columns), *draft.where, *(draft.keys or ())]


def _collides(draft: Draft) -> bool:
    """Whether an output column is called like a different column that the SELECT reads.

    Engines disagree which of the two a bare name means in WHERE, GROUP BY and in other output columns.
    """
    read = {column.name.lower() for expression in _expressions(draft) for column in expression.find_all(exp.Column)}
    return any(
        column.name.lower() in read
        and not (isinstance(column.expression, exp.Column) and column.expression.name.lower() == column.name.lower())
        for column in draft.columns
    )


def _is_long(expression: exp.Expr) -> bool:
    if expression.find(exp.Window):
        return True
    return sum(1 for _ in expression.walk() if not isinstance(_, exp.Identifier)) > _REPEATABLE_NODES
