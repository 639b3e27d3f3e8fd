"""Long chains of joins from a batch's changes outwards, ordered by the rows they make and cut before large tables.

Spark cannot know that ΔA ⋈ B is small: it would shuffle a large C to join it. A prefix of the chain that is a step of
its own is counted, so it is broadcast, and its values become literal bounds on C, by which Delta Lake skips files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from ivm_core.delta.keys import having_equal
from ivm_core.delta.simplify_keys import push_restriction
from ivm_core.job.facts import LARGE, Facts, TableFacts, known_facts, least_fan_out, table_of
from ivm_core.job.narrow import is_selective, narrow_keys
from ivm_core.plan.join_chain import join_all, join_chain
from ivm_core.plan.nodes import (
    Changes,
    Filter,
    Join,
    JoinKind,
    Plan,
    Project,
    Recursive,
    Scan,
    base_tables,
    keep,
    operators,
    references,
    sources,
)
from ivm_core.plan.rewrite import with_sources
from ivm_core.plan.schema import types_of
from ivm_core.plan.types import FRACTIONAL, INTEGRAL

# Bytes that Spark sends to every task (autoBroadcastJoinThreshold): past it, it shuffles both sides of a join.
BROADCAST = 10_000_000
FEWER = 4  # times the rows of a table that is read so that fewer of another's are
_FIXED = (*INTEGRAL, *FRACTIONAL, "boolean", "date", "timestamp", "timestamp_ntz", "decimal")


MakeStep = Callable[[Plan, str], Plan]


def largest_first(plan: Plan, facts: Facts) -> Plan:
    """The plan with the inputs of its inner joins from the largest to the smallest.

    A term of the telescoping sum reads the inputs before the changed one after the batch and the others before it: this
    way the largest table is read in one state only, by all terms but its own.
    """

    def size(source: Plan) -> int:
        return max((facts.get(table, TableFacts()).size for table in base_tables(source)), default=0)

    def visit(node: Plan) -> Plan:
        inputs, conditions = join_chain(node)
        if len(inputs) < 2:
            return with_sources(node, tuple(visit(source) for source in sources(node)))
        ordered = sorted(inputs, key=size, reverse=True)
        joined = join_all(tuple(visit(source) for source in ordered), conditions)
        return joined if joined.names == node.names else Project(joined, keep(node.names))

    return visit(plan)


def cut_chains(plan: Plan, facts: Facts, is_step: Callable[[Scan], bool], make_step: MakeStep) -> Plan:
    """The plan with its chains ordered and cut; ``make_step`` gets a prefix and what it is for, and returns its scan."""

    def visit(node: Plan) -> Plan:
        if isinstance(node, Recursive):
            return node  # what its step joins is another in each round
        inputs, conditions = join_chain(node)
        if len(inputs) < 2 or not _is_small(inputs[0], is_step):
            below = with_sources(node, tuple(visit(source) for source in sources(node)))
            return cut_left(below) if isinstance(below, Join) else below
        chain = _Chain(conditions, facts, is_step)
        return chain.build(tuple(visit(source) for source in inputs), node.names, make_step)

    def cut_left(join: Join) -> Join:
        """A ∘ B, ∘ ∈ {⋉, ▷, ⟕} → S ∘ (B ⋉ π S) where B reads a large table; S: A, as a step."""
        left, right = join.left, join.right
        if join.kind not in _LEFT_DECIDES or not _is_small(left, is_step) or _is_small(right, is_step):
            return join
        read = {scan.table for scan in operators(right) if isinstance(scan, Scan) and not is_step(scan)}
        large = sorted(table for table in read if facts.get(table, TableFacts()).size >= LARGE)
        if not large or restricted(right, left, (join.condition,)) is right:
            return join
        if not _is_exact(left, is_step):
            left = make_step(left, f"read from {large[0]} only what they meet")
        return replace(join, left=left, right=restricted(right, left, (join.condition,)))

    return visit(plan)


_LEFT_DECIDES = (JoinKind.SEMI, JoinKind.ANTI, JoinKind.LEFT)


def restricted(source: Plan, small: Plan, conditions: Iterable[exp.Expression | None]) -> Plan:
    """``source ⋉ π small`` by the columns that the conditions set equal, as far below as it goes: its other rows meet none.

    Unchanged where there are no such columns of one type, or where that would only be computed on top of all of its rows.
    """
    joined = having_equal(source, small, conditions)
    if joined is None:
        return source
    sunk = push_restriction(joined)
    return source if sunk is joined and not table_of(source) else sunk


@dataclass(frozen=True, slots=True)
class _Chain:
    conditions: tuple[exp.Expression, ...]
    facts: Facts
    is_step: Callable[[Scan], bool]

    def build(self, inputs: tuple[Plan, ...], names: tuple[str, ...], make_step: MakeStep) -> Plan:
        exact = _is_exact(inputs[0], self.is_step)
        if not exact and self._largest_read(inputs[0]) >= LARGE:
            inputs = (self._restricted_by_steps(inputs[0], inputs[1:]), *inputs[1:])
        parts, pending = [inputs[0]], self.conditions
        ordered = self._order(inputs)
        if not exact and is_selective(ordered[0]) and self._reads_larger(inputs[0], ordered[0]):
            purpose = f"leave out keys that meet nothing of {table_of(ordered[0])}"
            first, second = narrow_keys(inputs[0], ordered[0], self.conditions, lambda keys: make_step(keys, purpose))
            parts, ordered = [first], [second, *ordered[1:]]
        for following in ordered:
            if not exact and (self._rows(following) >= LARGE or self._bytes(following) > BROADCAST):
                inside = {name for part in parts for name in part.names}
                local = tuple(c for c in pending if references(c) <= inside)
                pending = tuple(c for c in pending if c not in local)
                table = table_of(following)
                purpose = f"read from {table} only what they meet" if table else "join them by their values"
                parts, exact = [make_step(join_all(tuple(parts), local), purpose)], True
            if exact and not table_of(following) and not _is_small(following, self.is_step):
                following = restricted(following, parts[0], self.conditions)
            parts.append(following)
            exact = False
        joined = join_all(tuple(parts), pending)
        return joined if joined.names == names else Project(joined, keep(names))

    def _restricted_by_steps(self, source: Plan, others: Iterable[Plan]) -> Plan:
        """The source's rows that meet those of the other inputs that are in memory."""
        for other in others:
            if _is_exact(other, self.is_step):
                source = restricted(source, other, self.conditions)
        return source

    def _order(self, inputs: tuple[Plan, ...]) -> list[Plan]:
        """The other inputs, each time the one that multiplies the rows least, of several the smallest table."""
        joined, waiting = [inputs[0]], list(inputs[1:])
        ordered = []
        while waiting:
            following = min(waiting, key=lambda source: (self._fan_out(source, joined), self._rows(source)))
            waiting.remove(following)
            joined.append(following)
            ordered.append(following)
        return ordered

    def _fan_out(self, source: Plan, joined: list[Plan]) -> float:
        return least_fan_out(source, joined, self.conditions, self.facts)

    def _reads_larger(self, source: Plan, other: Plan) -> bool:
        """Whether a large table is read for the source beside which the other's rows cost nothing."""
        size = self._largest_read(source)
        return size >= LARGE and bool(table_of(other)) and self._rows(other) * FEWER <= size

    def _largest_read(self, source: Plan) -> int:
        """The rows of the largest table that the source reads."""
        read = {scan.table for scan in operators(source) if isinstance(scan, Scan) and not self.is_step(scan)}
        return max((self.facts.get(table, TableFacts()).size for table in read), default=0)

    def _rows(self, source: Plan) -> int:
        return known_facts(source, self.facts).size

    def _bytes(self, source: Plan) -> int:
        """About the memory that the source's columns take; 0 of what is no table."""
        types = types_of(source)
        return (
            self._rows(source) * sum(_width(types.get(name) or "") for name in source.names) if table_of(source) else 0
        )


def _width(type_: str) -> int:
    """About how many bytes a value takes in memory."""
    return 8 if type_.partition("(")[0] in _FIXED else 32


def _is_small(plan: Plan, is_step: Callable[[Scan], bool]) -> bool:
    """Driven by a batch: changes, a step, or what is restricted to their keys."""
    match plan:
        case Changes():
            return True
        case Scan():
            return is_step(plan)
        case Join(left, right, JoinKind.SEMI, condition):
            # What meets any row of K at all is not fewer for it.
            meets = condition is not None and not references(condition).isdisjoint(right.names)
            return _is_small(left, is_step) or (meets and _is_small(right, is_step))
        case Join(left, right, JoinKind.INNER):
            return _is_small(left, is_step) or _is_small(right, is_step)
        case Join(left, _, JoinKind.LEFT | JoinKind.ANTI):
            return _is_small(left, is_step)
        case Join():
            return False
        case _:
            below = sources(plan)
            return bool(below) and all(_is_small(source, is_step) for source in below)


def _is_exact(plan: Plan, is_step: Callable[[Scan], bool]) -> bool:
    """A relation that is in memory, its rows counted."""
    match plan:
        case Changes():
            return True
        case Scan():
            return is_step(plan)
        case Filter(source) | Project(source):
            return _is_exact(source, is_step)
        case _:
            return False
