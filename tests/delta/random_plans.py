"""Random queries and random batches, weighted towards what broke other engines.

NULL and duplicate keys, equal rows, self joins where one row changes both sides, both sides of a join changed, empty
tables, updates that move a row across a filter or to another key. Values are few, so that everything collides.
"""

from __future__ import annotations

from random import Random

from sqlglot import exp, parse_one

from ivm_core.plan.nodes import (
    Aggregate,
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
)
from tests.zset import Row, Table

TABLES = {
    "default.r": (("a", "int"), ("b", "int"), ("c", "string")),
    "default.s": (("a", "int"), ("b", "int")),
    "default.t": (("b", "int"), ("c", "string")),
}


def random_tables(random: Random, still: frozenset[str] = frozenset()) -> dict[str, Table]:
    """A batch over all tables; each one unchanged, emptied, filled or edited row by row, ``still`` ones unchanged."""
    tables = {}
    for name, columns in TABLES.items():
        types = tuple(type_ for _, type_ in columns)
        before = tuple(_row(random, types) for _ in range(random.choice((0, 1, 2, 3, 4, 6))))
        match random.randrange(8):
            case _ if name in still:
                after = before
            case 0:
                after = before
            case 1:
                after = ()
            case _:
                after = tuple(_edited(random, types, before))
        tables[name] = Table(tuple(column for column, _ in columns), before, after)
    return tables


def changed_in(tables: dict[str, Table]) -> frozenset[str]:
    """The tables whose rows differ."""
    return frozenset(
        name for name, table in tables.items() if sorted(map(repr, table.before)) != sorted(map(repr, table.after))
    )


def _row(random: Random, types: tuple[str, ...]) -> Row:
    numbers, words = (None, 0, 1, 1, 2), (None, "x", "x", "y")
    return tuple(random.choice(numbers if type_ == "int" else words) for type_ in types)


def _edited(random: Random, types: tuple[str, ...], before: tuple[Row, ...]) -> list[Row]:
    after: list[Row] = []
    for row in before:
        match random.randrange(6):
            case 0:
                continue
            case 1:
                position = random.randrange(len(row))
                after.append((*row[:position], _row(random, types)[position], *row[position + 1 :]))
            case 2:
                after += [row, row]
            case _:
                after.append(row)
    after += [_row(random, types) for _ in range(random.randrange(3))]
    return after


class RandomPlans:
    """Draws plans; ``generate`` only where the evaluation knows how to explode arrays."""

    def __init__(self, random: Random, *, generate: bool = True) -> None:
        self.random = random
        self.generate = generate
        self.numbered = 0

    def plan(self, depth: int) -> Plan:
        """A query of at most so many operators on a path, with at least one."""
        return self._grow(depth)[0]

    def _grow(self, depth: int) -> tuple[Plan, dict[str, str]]:
        if depth == 0:
            return self._scan()
        weights = {
            self._filter: 3,
            self._project: 3,
            self._inner_join: 5,
            self._other_join: 6,
            self._not_in: 1,
            self._union: 2,
            self._aggregate: 5,
            self._distinct: 2,
            self._window: 2,
            self._set_operation: 2,
            self._limit: 1,
            self._explode: 1 if self.generate else 0,
            self._values: 1,
        }
        grow = self.random.choices(list(weights), list(weights.values()))[0]
        return grow(depth - 1)

    def _name(self) -> str:
        self.numbered += 1
        return f"c{self.numbered}"

    def _scan(self) -> tuple[Plan, dict[str, str]]:
        table = self.random.choice(list(TABLES))
        columns = tuple(ScanColumn(self._name(), source, type_) for source, type_ in TABLES[table])
        return Scan(table, columns), {c.name: c.type for c in columns}

    def _filter(self, depth: int) -> tuple[Plan, dict[str, str]]:
        source, types = self._grow(depth)
        return Filter(source, self._condition(types)), types

    def _project(self, depth: int) -> tuple[Plan, dict[str, str]]:
        source, types = self._grow(depth)
        return self._projected(source, types, self.random.choices(list(types), k=self.random.randint(1, 3)))

    def _projected(self, source: Plan, types: dict[str, str], chosen: list[str]) -> tuple[Plan, dict[str, str]]:
        columns, result = [], {}
        for name in chosen:
            new = self._name()
            columns.append(Named(new, self._scalar(name, types)))
            result[new] = types[name]
        return Project(source, tuple(columns)), result

    def _inner_join(self, depth: int) -> tuple[Plan, dict[str, str]]:
        left, left_types = self._grow(depth)
        right, right_types = self._grow(self.random.randint(0, depth))
        condition = self._join_condition(left_types, right_types)
        return Join(left, right, JoinKind.INNER, condition), left_types | right_types

    def _other_join(self, depth: int) -> tuple[Plan, dict[str, str]]:
        left, left_types = self._grow(depth)
        right, right_types = self._grow(self.random.randint(0, depth))
        kind = self.random.choice([kind for kind in JoinKind if kind is not JoinKind.INNER])
        join = Join(left, right, kind, self._join_condition(left_types, right_types, cross=False))
        return join, {name: type_ for name, type_ in (left_types | right_types).items() if name in join.names}

    def _not_in(self, depth: int) -> tuple[Plan, dict[str, str]]:
        left, left_types = self._grow(depth)
        right, right_types = self._grow(0)
        a, b = self._same_type(left_types, right_types) or (next(iter(left_types)), None)
        if b is None:
            return left, left_types
        condition = _sql(f"{a} = {b} OR {a} IS NULL OR {b} IS NULL")
        return Join(left, right, JoinKind.ANTI, condition), left_types

    def _union(self, depth: int) -> tuple[Plan, dict[str, str]]:
        left, right, types = self._alike(depth)
        return UnionAll((left, right)), types

    def _set_operation(self, depth: int) -> tuple[Plan, dict[str, str]]:
        left, right, types = self._alike(depth)
        return SetOperation(left, right, self.random.choice(list(SetKind)), self.random.random() < 0.5), types

    def _alike(self, depth: int) -> tuple[Plan, Plan, dict[str, str]]:
        (left, left_types), (right, right_types) = self._grow(depth), self._grow(self.random.randint(0, depth))
        pairs = [p for p in (self._same_type(left_types, right_types) for _ in range(2)) if p is not None]
        if not pairs:
            return left, left, left_types
        names = [self._name() for _ in pairs]
        one = Project(left, tuple(Named(n, column(a)) for n, (a, _) in zip(names, pairs, strict=True)))
        other = Project(right, tuple(Named(n, column(b)) for n, (_, b) in zip(names, pairs, strict=True)))
        return one, other, {n: left_types[a] for n, (a, _) in zip(names, pairs, strict=True)}

    def _aggregate(self, depth: int) -> tuple[Plan, dict[str, str]]:
        source, types = self._grow(depth)
        keys, aggregates, result = [], [], {}
        for name in self.random.sample(list(types), k=min(len(types), self.random.choice((0, 1, 1, 1, 2)))):
            new = self._name()
            keys.append(Named(new, self._scalar(name, types)))
            result[new] = types[name]
        for _ in range(self.random.randint(0 if keys else 1, 2)):
            new, (call, type_) = self._name(), self._call(types)
            aggregates.append(Named(new, call))
            result[new] = type_
        return Aggregate(source, tuple(keys), tuple(aggregates)), result

    def _call(self, types: dict[str, str]) -> tuple[exp.Expression, str]:
        name = self.random.choice(list(types))
        integer = types[name] != "string"
        calls = ["COUNT(*)", f"COUNT({name})", f"COUNT(DISTINCT {name})", f"MIN({name})", f"MAX({name})"]
        if integer:
            calls += [f"SUM({name})", f"SUM(CASE WHEN {self._condition(types).sql('spark')} THEN {name} END)"] * 2
        call = self.random.choice(calls)
        return _sql(call), types[name] if call.startswith("M") else "bigint"

    def _distinct(self, depth: int) -> tuple[Plan, dict[str, str]]:
        source, types = self._grow(depth)
        return Distinct(source), types

    def _window(self, depth: int) -> tuple[Plan, dict[str, str]]:
        source, types = self._grow(depth)
        functions, result = [], dict(types)
        for _ in range(self.random.randint(1, 2)):
            call, type_ = self._call(types)
            partition = self.random.sample(list(types), k=min(len(types), self.random.choice((0, 1, 1, 2))))
            order = self.random.choice([*types, None])
            if isinstance(call.this, exp.Distinct):
                order = None
            if order is not None and self.random.random() < 0.3:
                call, type_ = exp.Rank(), "int"
            function = exp.Window(
                this=call,
                partition_by=[column(name) for name in partition] or None,
                order=exp.Order(expressions=[_ascending(order)]) if order else None,
            )
            new = self._name()
            functions.append(Named(new, function))
            result[new] = type_
        return Window(source, tuple(functions)), result

    def _limit(self, depth: int) -> tuple[Plan, dict[str, str]]:
        source, types = self._grow(depth)
        order = tuple(_ascending(name) for name in self.random.sample(list(types), k=len(types)))
        return Limit(source, order, self.random.randint(1, 3), self.random.choice((0, 0, 1))), types

    def _explode(self, depth: int) -> tuple[Plan, dict[str, str]]:
        source, types = self._grow(depth)
        name = self.random.choice(list(types))
        array = exp.Array(expressions=[column(name), self._scalar(name, types)])
        new = self._name()
        return Generate(source, exp.Explode(this=array), (new,)), {**types, new: types[name]}

    def _values(self, depth: int) -> tuple[Plan, dict[str, str]]:
        rows = tuple((_sql(literal),) for literal in self.random.choices(("0", "1", "2", "NULL"), k=2))
        name = self._name()
        return Values((name,), ("int",), rows), {name: "int"}

    def _scalar(self, name: str, types: dict[str, str]) -> exp.Expression:
        other = self.random.choice([n for n in types if types[n] == types[name]])
        options = [name, name, name, f"COALESCE({name}, {other})"]
        condition = self._condition(types).sql("spark")
        options.append(f"CASE WHEN {condition} THEN {name} END")
        if types[name] == "int":
            options += ["1", f"{name} + 1", "CAST(NULL AS INT)"]
        return _sql(self.random.choice(options))

    def _condition(self, types: dict[str, str]) -> exp.Expression:
        name = self.random.choice(list(types))
        other = self.random.choice([n for n in types if types[n] == types[name]])
        literal = "'x'" if types[name] == "string" else "1"
        options = [f"{name} = {other}", f"{name} <> {literal}", f"{name} < {literal}", f"{name} >= {literal}"]
        options += [f"{name} IS NULL", f"NOT {name} IS NULL", f"{name} = {literal} OR {other} IS NULL"]
        condition = _sql(self.random.choice(options))
        if self.random.random() < 0.2:
            condition = exp.and_(condition, self._condition(types))
        return condition

    def _same_type(self, one: dict[str, str], other: dict[str, str]) -> tuple[str, str] | None:
        pairs = [(a, b) for a in one for b in other if one[a] == other[b]]
        return self.random.choice(pairs) if pairs else None

    def _join_condition(self, left: dict[str, str], right: dict[str, str], cross: bool = True) -> exp.Expression | None:
        pairs = [self._same_type(left, right) for _ in range(self.random.choice((1, 1, 2)))]
        templates = ["{} = {}"] * 5 + ["{} <=> {}", "{} < {}", "{} <> {}"]
        parts = [_sql(self.random.choice(templates).format(*pair)) for pair in pairs if pair is not None]
        if self.random.random() < 0.15:
            parts.append(self._condition(left if self.random.random() < 0.5 else right))
        if not parts or (self.random.random() < 0.08 and cross):
            return None
        return exp.and_(*parts) if len(parts) > 1 else parts[0]


def _ascending(name: str) -> exp.Ordered:
    return exp.Ordered(this=column(name), nulls_first=True)


def _sql(text: str) -> exp.Expression:
    expression = parse_one(text, dialect="spark")
    for identifier in expression.find_all(exp.Identifier):
        identifier.set("quoted", True)
    return expression
