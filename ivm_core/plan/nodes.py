"""The relational algebra: operators are frozen values that compare and hash by content.

Every operator produces an ordered tuple of column names, unique without regard to case. Scalar expressions
are sqlglot trees that refer to the columns of the operator's input by bare name (``exp.column("price")``).
A delta plan is an ordinary plan with two more kinds of leaf, ``Changes`` and a ``Scan`` before or after the
batch, and exactly one column called ``WEIGHT``.

Never mutate an expression held by a node: ``.copy()`` it first.
"""

# Long because the operators are one list: every ``match`` over plans is closed over it.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import get_args

from sqlglot import exp

from ivm_core.plan.remembered import remembered

HIDDEN_PREFIX = "__ivm_"
WEIGHT = "__ivm_weight"


class At(StrEnum):
    """The state of a base table that a scan reads."""

    NOW = "now"  # the defining query: no batch yet
    BEFORE = "before"  # R⁻: the version the view stands at
    AFTER = "after"  # R⁺: the version the batch ends at


class JoinKind(StrEnum):
    """How unmatched rows are treated; a cross join is an inner join without a condition."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"


class SetKind(StrEnum):
    """Set operations that are not linear."""

    INTERSECT = "intersect"
    EXCEPT = "except"


@dataclass(frozen=True, slots=True)
class Named:
    """An output column: ``expression AS name``."""

    name: str
    expression: exp.Expression


@dataclass(frozen=True, slots=True)
class ScanColumn:
    """A base-table column ``source`` read under the plan-wide unique ``name``; ``type`` in Spark's SQL."""

    name: str
    source: str
    type: str


class Operator:
    """Room for what an operator remembers of itself once it was asked: plans are deep, share parts, and are asked often."""

    __slots__ = ("_hash", "_names")
    _hash: int
    _names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scan(Operator):
    """All rows of a base table (``schema.table``), each with weight 1."""

    table: str
    columns: tuple[ScanColumn, ...]
    at: At = At.NOW

    def __post_init__(self) -> None:
        _check_names(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True, slots=True)
class Changes(Operator):
    """ΔR = R⁺ − R⁻, netted: each distinct changed row once, with its weight (never 0) in column ``WEIGHT``."""

    table: str
    columns: tuple[ScanColumn, ...]

    def __post_init__(self) -> None:
        _check_names(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return (*(column.name for column in self.columns), WEIGHT)


@dataclass(frozen=True, slots=True)
class Values(Operator):
    """A list of literal rows; without rows it is the empty relation. ``types`` in Spark's SQL."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[exp.Expression, ...], ...] = ()

    def __post_init__(self) -> None:
        _check_names(self.names)
        _require(len(self.types) == len(self.names), "Values needs one type for each column")
        _require(all(len(row) == len(self.names) for row in self.rows), "Values rows differ in width")


@dataclass(frozen=True, slots=True)
class Project(Operator):
    """Row-wise computed columns."""

    source: Plan
    columns: tuple[Named, ...]

    def __post_init__(self) -> None:
        _check_names(self.names)
        _check_columns(self.columns, self.source)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True, slots=True)
class Filter(Operator):
    """The rows for which the condition is true (not false, not unknown)."""

    source: Plan
    condition: exp.Expression

    def __post_init__(self) -> None:
        _check_references([self.condition], self.source)

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names


@dataclass(frozen=True, slots=True)
class Join(Operator):
    """Pairs of rows for which the condition is true; semi and anti joins keep the left columns only."""

    left: Plan
    right: Plan
    kind: JoinKind = JoinKind.INNER
    condition: exp.Expression | None = None

    def __post_init__(self) -> None:
        _check_names((*self.left.names, *self.right.names))
        if self.condition is not None:
            _check_references([self.condition], self.left, self.right)

    @property
    def names(self) -> tuple[str, ...]:
        if self.kind in (JoinKind.SEMI, JoinKind.ANTI):
            return self.left.names
        return (*self.left.names, *self.right.names)


@dataclass(frozen=True, slots=True)
class UnionAll(Operator):
    """The bag union of sources that have the same column names in the same order."""

    sources: tuple[Plan, ...]

    def __post_init__(self) -> None:
        _require(len(self.sources) > 0, "UnionAll needs a source")
        first = self.sources[0].names
        _require(all(source.names == first for source in self.sources), "UnionAll sources differ in columns")

    @property
    def names(self) -> tuple[str, ...]:
        return self.sources[0].names


@dataclass(frozen=True, slots=True)
class Aggregate(Operator):
    """One row per distinct ``keys`` tuple (NULL equals NULL); without keys exactly one row.

    Each aggregate is one sqlglot aggregate-function call, whose arguments may be any row-wise expression.
    No aggregates: the distinct keys.
    """

    source: Plan
    keys: tuple[Named, ...]
    aggregates: tuple[Named, ...]

    def __post_init__(self) -> None:
        _check_names(self.names)
        _check_columns(self.keys, self.source)
        _check_columns(self.aggregates, self.source)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in (*self.keys, *self.aggregates))


@dataclass(frozen=True, slots=True)
class Distinct(Operator):
    """Each row once."""

    source: Plan

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names


@dataclass(frozen=True, slots=True)
class Window(Operator):
    """Adds columns computed by window functions (each expression an ``exp.Window``)."""

    source: Plan
    functions: tuple[Named, ...]

    def __post_init__(self) -> None:
        _check_names(self.names)
        _check_columns(self.functions, self.source)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.source.names, *(function.name for function in self.functions))


@dataclass(frozen=True, slots=True)
class SetOperation(Operator):
    """INTERSECT or EXCEPT, by bag (``all``) or by set; both sides have the same column names."""

    left: Plan
    right: Plan
    kind: SetKind
    all: bool = False

    def __post_init__(self) -> None:
        _require(self.left.names == self.right.names, "SetOperation sides differ in columns")

    @property
    def names(self) -> tuple[str, ...]:
        return self.left.names


@dataclass(frozen=True, slots=True)
class Generate(Operator):
    """A row-generating function (explode, posexplode, inline) applied to each row; ``outer`` keeps rows without output."""

    source: Plan
    generator: exp.Expression
    outputs: tuple[str, ...]
    outer: bool = False

    def __post_init__(self) -> None:
        _check_names(self.names)
        _check_references([self.generator], self.source)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.source.names, *self.outputs)


@dataclass(frozen=True, slots=True)
class Limit(Operator):
    """The first ``count`` rows after ``offset`` in the given order (``exp.Ordered`` expressions)."""

    source: Plan
    order: tuple[exp.Expression, ...]
    count: int | None
    offset: int = 0

    def __post_init__(self) -> None:
        _check_references(self.order, self.source)

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names


@dataclass(frozen=True, slots=True)
class Recursive(Operator):
    """WITH RECURSIVE: the rows of ``base``, and again and again those that ``step`` makes of the round before.

    ``name`` is unique in the plan; the step reads the round before by ``Round`` leaves of that name.
    """

    name: str
    base: Plan
    step: Plan

    def __post_init__(self) -> None:
        _require(self.base.names == self.step.names, "Recursive base and step differ in columns")

    @property
    def names(self) -> tuple[str, ...]:
        return self.base.names


@dataclass(frozen=True, slots=True)
class Round(Operator):
    """The rows that the recursion ``name`` made in its round before; ``source`` of a column is its name there."""

    name: str
    columns: tuple[ScanColumn, ...]

    def __post_init__(self) -> None:
        _check_names(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


Plan = (
    Scan
    | Changes
    | Values
    | Project
    | Filter
    | Join
    | UnionAll
    | Aggregate
    | Distinct
    | Window
    | SetOperation
    | Generate
    | Limit
    | Recursive
    | Round
)


def _remember(kind: type[Operator]) -> None:
    """Let the operators of a kind find out their hash and their names, which come from all that lies below, but once."""
    found_hash, found_names = kind.__hash__, kind.__dict__["names"]

    def own_hash(self: Operator) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", found_hash(self))
            return self._hash

    def names(self: Operator) -> tuple[str, ...]:
        try:
            return self._names
        except AttributeError:
            object.__setattr__(self, "_names", found_names.fget(self))
            return self._names

    kind.__hash__ = own_hash  # type: ignore[assignment, method-assign]
    if isinstance(found_names, property):  # the names of ``Values`` are a field
        kind.names = property(names)  # type: ignore[attr-defined]


for _kind in get_args(Plan):
    _remember(_kind)


def sources(plan: Plan) -> tuple[Plan, ...]:
    """The operator's direct inputs, left to right."""
    match plan:
        case Scan() | Changes() | Values() | Round():
            return ()
        case Recursive(_, base, step):
            return (base, step)
        case Join(left, right) | SetOperation(left, right):
            return (left, right)
        case UnionAll(inputs):
            return inputs
        case _:
            return (plan.source,)


def walk(plan: Plan) -> Iterator[Plan]:
    """The operator and all operators below it, parents first."""
    yield plan
    for source in sources(plan):
        yield from walk(source)


def operators(plan: Plan, below: Callable[[Plan], tuple[Plan, ...]] = sources) -> Iterator[Plan]:
    """The operator and all below it, parents first, each object once; ``below``: which inputs to look at."""
    seen: set[int] = set()
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(reversed(below(node)))


def base_tables(plan: Plan) -> frozenset[str]:
    """The names of the base tables that the plan reads."""
    return frozenset(node.table for node in operators(plan) if isinstance(node, Scan | Changes))


def references(expression: exp.Expression) -> frozenset[str]:
    """The column names that a scalar expression refers to; found once for each of those that nodes hold."""
    return frozenset((expression.this.name,)) if isinstance(expression, exp.Column) else _references_within(expression)


@remembered
def _references_within(expression: exp.Expression) -> frozenset[str]:
    return frozenset(column.name for column in expression.find_all(exp.Column))


@remembered
def _references_of(columns: tuple[Named, ...]) -> frozenset[str]:
    """The same of all columns of a node: the tuple goes from a node to the one that takes its place."""
    return frozenset(name for column in columns for name in references(column.expression))


def column(name: str) -> exp.Column:
    """A reference to an input column, quoted, so that any name survives."""
    return exp.column(exp.to_identifier(name, quoted=True))


def keep(names: tuple[str, ...]) -> tuple[Named, ...]:
    """Output columns that pass input columns through unchanged."""
    return tuple(Named(name, column(name)) for name in names)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _check_names(names: tuple[str, ...]) -> None:
    lowered = [name.lower() for name in names]
    _require(len(set(lowered)) == len(lowered), f"duplicate column names: {', '.join(names)}")


def _check_columns(columns: tuple[Named, ...], source: Plan) -> None:
    if not _references_of(columns).issubset(source.names):
        _check_references([column.expression for column in columns], source)


def _check_references(expressions: Iterable[exp.Expression], *inputs: Plan) -> None:
    available = {name for plan in inputs for name in plan.names}
    for expression in expressions:
        missing = references(expression) - available
        if missing:  # the message is dear, and nodes are built by the thousand
            message = f"{expression.sql('spark')} refers to {sorted(missing)}, input has {sorted(available)}"
            raise ValueError(message)
