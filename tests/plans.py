"""Random valid plans over a few small tables, and random contents for the tables.

All plans have one result for each database: LIMIT orders by every column, ROW_NUMBER as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import strategies as st
from sqlglot import exp

from ivm_core.plan.explain_expressions import canonical, read_expression
from ivm_core.plan.nodes import (
    WEIGHT,
    Aggregate,
    At,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Named,
    Plan,
    Project,
    Scan,
    ScanColumn,
    SetKind,
    SetOperation,
    UnionAll,
    Values,
    Window,
    column,
    keep,
)

Item = TypeVar("Item")

KINDS = (
    "project",
    "filter",
    "join",
    "union",
    "aggregate",
    "distinct",
    "window",
    "set_operation",
    "generate",
    "limit",
    "values",
)
LINEAR_KINDS = ("project", "filter", "join", "union", "generate")


@dataclass(frozen=True)
class Table:
    """A base table; all columns can be NULL. Types are "bigint" and "string"."""

    name: str
    columns: tuple[tuple[str, str], ...]


TABLES = (
    Table("default.r", (("a", "bigint"), ("b", "bigint"), ("s", "string"))),
    Table("default.q", (("a", "bigint"), ("c", "bigint"))),
    Table("other.p", (("b", "bigint"), ("d d", "string"), ("select", "bigint"))),
)

Row = tuple[int | str | None, ...]


def rows(table: Table, max_size: int = 6) -> st.SearchStrategy[list[Row]]:
    """Contents of a table: few values, so that rows match, repeat and hold NULL."""
    values = {"bigint": st.sampled_from([None, 0, 1, 2, 3]), "string": st.sampled_from([None, "x", "y", ""])}
    row = st.tuples(*(values[kind] for _, kind in table.columns))
    return st.one_of(st.just([]), *[st.lists(row, min_size=max_size // 2, max_size=max_size)] * 4)


def databases(tables: tuple[Table, ...] = TABLES, max_size: int = 6) -> st.SearchStrategy[dict[str, list[Row]]]:
    """Contents of all tables, by name."""
    return st.fixed_dictionaries({table.name: rows(table, max_size) for table in tables})


@st.composite
def plans(
    draw: st.DrawFn,
    tables: tuple[Table, ...] = TABLES,
    *,
    max_depth: int = 4,
    kinds: Iterable[str] = KINDS,
    ats: tuple[At, ...] = (At.NOW,),
    with_changes: bool = False,
) -> Plan:
    """A plan with at least one column. ``with_changes`` lets ``Changes`` be a leaf, its weight an ordinary column."""
    leaves: list[Scan | Changes] = [Scan(table.name, (), at) for table in tables for at in ats]
    leaves += [Changes(table.name, ()) for table in tables] if with_changes else []
    maker = _Maker(draw, {table.name: table for table in tables}, tuple(leaves), tuple(kinds))
    plan, _ = maker.plan(max_depth)
    return plan


Typed = tuple[Plan, dict[str, str]]  # a plan and the types of its columns


@dataclass
class _Maker:
    draw: st.DrawFn
    tables: dict[str, Table]
    leaves: tuple[Scan | Changes, ...]
    kinds: tuple[str, ...]
    used: set[str] = field(default_factory=set)

    def plan(self, depth: int) -> Typed:
        if depth == 0 or self.chance(8):
            return self.leaf()
        kind = self.pick(self.kinds)
        make = {
            "project": self.project,
            "filter": self.filter,
            "join": self.join,
            "union": self.union,
            "aggregate": self.aggregate,
            "distinct": self.distinct,
            "window": self.window,
            "set_operation": self.set_operation,
            "generate": self.generate,
            "limit": self.limit,
            "values": lambda _: self.values(),
        }[kind]
        return make(depth - 1)

    def leaf(self) -> Typed:
        leaf = self.pick(self.leaves)
        columns = self.some(self.tables[leaf.table].columns)
        read = tuple(ScanColumn(self.fresh(source), source, kind) for source, kind in columns)
        types = {column.name: column.type for column in read}
        if isinstance(leaf, Scan):
            return Scan(leaf.table, read, leaf.at), types
        weight = self.fresh("w")
        changes = Changes(leaf.table, read)
        return Project(changes, (*keep(tuple(types)), Named(weight, column(WEIGHT)))), types | {weight: "bigint"}

    def values(self) -> Typed:
        kinds = [self.pick(("bigint", "string")) for _ in range(self.draw(st.integers(1, 2)))]
        names = tuple(self.fresh("v") for _ in kinds)
        rows = tuple(tuple(self.literal(kind) for kind in kinds) for _ in range(self.draw(st.integers(0, 3))))
        return Values(names, tuple(kinds), rows), dict(zip(names, kinds, strict=True))

    def project(self, depth: int) -> Typed:
        source, types = self.plan(depth)
        outputs: dict[str, tuple[str, exp.Expression]] = {}
        for _ in range(self.draw(st.integers(1, 3))):
            kind = self.pick(("bigint", "bigint", "string"))
            expression = self.expression(types, kind, 2)
            if self.chance(3):
                name = self.pick(types)  # an old name with a new meaning
                expression, kind = self.pick(((column(name), types[name]), (expression, kind)))
            else:
                name = self.fresh(self.pick(("a", "b", "c", "e")))
            outputs[name] = (kind, expression)
        columns = tuple(Named(name, expression) for name, (_, expression) in outputs.items())
        return Project(source, columns), {name: kind for name, (kind, _) in outputs.items()}

    def filter(self, depth: int) -> Typed:
        source, types = self.plan(depth)
        return Filter(source, self.condition(types, 2)), types

    def join(self, depth: int) -> Typed:
        (left, left_types), (right, right_types) = self.plan(depth), self.plan(depth)
        kind = self.pick(JoinKind)
        pairs = [(a, b) for a, one in left_types.items() for b, other in right_types.items() if one == other]
        condition: exp.Expression | None = None
        if pairs and not self.chance(6):
            a, b = self.pick(pairs)
            equality = self.pick((exp.EQ, exp.EQ, exp.NullSafeEQ))(this=column(a), expression=column(b))
            extra = self.condition(left_types | right_types, 1) if self.chance(4) else None
            condition = canonical(equality if extra is None else exp.and_(equality, extra))
        types = left_types if kind in (JoinKind.SEMI, JoinKind.ANTI) else left_types | right_types
        return Join(left, right, kind, condition), types

    def union(self, depth: int) -> Typed:
        sides = [self.plan(depth) for _ in range(self.draw(st.integers(1, 3)))]
        sources, types = self.aligned(sides)
        if self.chance(4):
            sources = (*sources, sources[0])
        return UnionAll(sources), types

    def set_operation(self, depth: int) -> Typed:
        (left, right), types = self.aligned([self.plan(depth), self.plan(depth)])
        return SetOperation(left, right, self.pick(SetKind), self.pick((True, False))), types

    def aligned(self, sides: list[Typed]) -> tuple[tuple[Plan, ...], dict[str, str]]:
        """The plans, projected to the same new columns."""
        types = {self.fresh("u"): kind for kind in self.pick((("bigint",), ("bigint", "string"), ("bigint", "bigint")))}
        sources = tuple(
            Project(source, tuple(Named(name, self.expression(below, kind, 1)) for name, kind in types.items()))
            for source, below in sides
        )
        return sources, types

    def aggregate(self, depth: int) -> Typed:
        source, types = self.plan(depth)
        keys: dict[str, tuple[str, exp.Expression]] = {}
        for _ in range(self.draw(st.integers(0, 2))):
            if self.chance(3):
                kind = self.pick(("bigint", "string"))
                keys[self.fresh("k")] = (kind, self.expression(types, kind, 1))
            else:
                name = self.pick(types)
                keys[name] = (types[name], column(name))
        aggregates = {
            self.fresh("m"): self.aggregation(types) for _ in range(self.draw(st.integers(0 if keys else 1, 2)))
        }
        named = [tuple(Named(name, part) for name, (_, part) in group.items()) for group in (keys, aggregates)]
        return Aggregate(source, *named), {name: kind for name, (kind, _) in (keys | aggregates).items()}

    def aggregation(self, types: dict[str, str]) -> tuple[str, exp.Expression]:
        kind = self.pick(("bigint", "string"))
        argument = self.expression(types, kind, 1)
        number = self.expression(types, "bigint", 1)
        return self.pick(
            (
                ("bigint", read_expression("COUNT(*)")),
                ("bigint", canonical(exp.Count(this=argument))),
                ("bigint", canonical(exp.Count(this=exp.Distinct(expressions=[argument])))),
                ("bigint", canonical(exp.Sum(this=number))),
                (kind, canonical(exp.Min(this=argument))),
                (kind, canonical(exp.Max(this=argument))),
            )
        )

    def distinct(self, depth: int) -> Typed:
        source, types = self.plan(depth)
        return Distinct(source), types

    def window(self, depth: int) -> Typed:
        source, types = self.plan(depth)
        function = self.pick((exp.RowNumber(), exp.Rank(), exp.Sum(this=self.expression(types, "bigint", 1))))
        order = exp.Order(expressions=self.ordering(types))
        window = exp.Window(this=function, partition_by=[column(name) for name in self.some(types)], order=order)
        name = self.fresh("n")
        return Window(source, (Named(name, canonical(window)),)), types | {name: "bigint"}

    def generate(self, depth: int) -> Typed:
        source, types = self.plan(depth)
        items = exp.Array(expressions=[self.expression(types, "bigint", 1) for _ in range(2)])
        array = exp.Case().when(self.condition(types, 1), items)
        name = self.fresh("g")
        return Generate(source, canonical(exp.Explode(this=array)), (name,), self.chance(2)), types | {name: "bigint"}

    def limit(self, depth: int) -> Typed:
        source, types = self.plan(depth)
        count, offset = self.draw(st.one_of(st.none(), st.integers(0, 4))), self.pick((0, 0, 1))
        return Limit(source, self.ordering(types), count, offset), types

    def ordering(self, types: dict[str, str]) -> tuple[exp.Expression, ...]:
        """Sort keys that leave only equal rows tied."""
        first = [canonical(exp.Ordered(this=self.expression(types, "bigint", 1)))] if self.chance(4) else []
        names = self.draw(st.permutations(list(types)))
        rest = [exp.Ordered(this=column(name), desc=self.pick((True, False)), nulls_first=True) for name in names]
        return (*first, *(canonical(key) for key in rest))

    def condition(self, types: dict[str, str], depth: int) -> exp.Expression:
        choice = self.pick(("compare", "compare", "null", "text", *(("and", "or", "not") if depth else ())))
        if choice in ("and", "or"):
            join = exp.and_ if choice == "and" else exp.or_
            return canonical(join(self.condition(types, depth - 1), self.condition(types, depth - 1)))
        if choice == "not":
            return canonical(exp.not_(self.condition(types, depth - 1)))
        if choice == "null":
            return canonical(exp.Is(this=column(self.pick(types)), expression=exp.null()))
        kind = "string" if choice == "text" else "bigint"
        compare = self.pick((exp.EQ, exp.NEQ, exp.LT, exp.GTE))
        left = exp.paren(self.expression(types, kind, 1))
        return canonical(compare(this=left, expression=self.literal(kind, null=False)))

    def expression(self, types: dict[str, str], kind: str, depth: int) -> exp.Expression:
        """A scalar of the kind; deeper numbers stay small, so that no engine overflows."""
        names = [name for name, other in types.items() if other == kind]
        choice = self.pick((*("name",) * 4, "literal", *(("more",) * 2 if depth else ())))
        if choice == "name" and names:
            return column(self.pick(names))
        if choice != "more":
            return self.literal(kind)
        one, other = self.expression(types, kind, depth - 1), self.expression(types, kind, depth - 1)
        if self.chance(3):
            return canonical(exp.Case().when(self.condition(types, 0), one).else_(other))
        if kind == "string" or self.chance(3):
            return canonical(exp.Coalesce(this=one, expressions=[other]))
        operator = self.pick((exp.Add, exp.Sub))
        return canonical(operator(this=exp.paren(one), expression=exp.paren(other)))

    def literal(self, kind: str, *, null: bool = True) -> exp.Expression:
        if null and self.chance(5):
            return canonical(exp.cast(exp.null(), kind, dialect="spark"))
        if kind == "string":
            return exp.Literal.string(self.pick(("x", "y", "it's")))
        return canonical(exp.cast(exp.Literal.number(self.draw(st.integers(-2, 3))), kind, dialect="spark"))

    def some(self, items: Iterable[Item]) -> list[Item]:
        """A part of the items, at least one, in their order."""
        return [item for item in items if not self.chance(3)] or [next(iter(items))]

    def pick(self, choices: Iterable[Item]) -> Item:
        return self.draw(st.sampled_from(list(choices)))

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(1, one_in)) == one_in

    def fresh(self, wanted: str) -> str:
        """A name that no column of the plan had before."""
        name, number = wanted, 1
        while name.lower() in self.used:
            number += 1
            name = f"{wanted}_{number}"
        self.used.add(name.lower())
        return name
