"""The delta of a plan: one case and one equation per operator.

Every relation is a bag with integer weights. ``R⁻`` is a base table before the batch, ``R⁺`` after it, and
``ΔR = R⁺ − R⁻``; for any operator, Δop = op(after) − op(before). The rules are the textbook ones; ``simplify`` makes
the result cheap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from ivm_core.delta.keys import difference, distinct_keys, having_keys, is_net, net, touched_by, weighted
from ivm_core.delta.states import Tables, after, before, is_failing
from ivm_core.delta.subtracted import difference_of_groups, subtractable
from ivm_core.delta.touched import touched_left
from ivm_core.plan.clock import CLOCK, clock_names
from ivm_core.plan.empty import without_rows
from ivm_core.plan.inexact import exact_keys
from ivm_core.plan.join_chain import join_all, join_chain
from ivm_core.plan.nodes import (
    WEIGHT,
    Aggregate,
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
    Recursive,
    Round,
    Scan,
    SetOperation,
    UnionAll,
    Values,
    Window,
    base_tables,
    column,
    keep,
    references,
)
from ivm_core.plan.raising import raise_where_positive
from ivm_core.plan.remembered import remembered
from ivm_core.plan.rewrite import with_sources
from ivm_core.plan.types import typed
from ivm_core.plan.types_plan import types_of


def differentiate(plan: Plan, changed: Tables) -> Plan:
    """The delta plan: the columns of ``plan`` in order, then ``WEIGHT``; ``changed`` names the tables with changes.

    Raises NoRule where an operator can be neither weighted nor restricted to keys.
    """
    return _delta(plan, changed)


def _differentiate(plan: Plan, changed: Tables) -> Plan:
    if not base_tables(plan) & changed:
        return empty(plan)
    match plan:
        case Scan(table, columns):
            # Δ(R) = R⁺ − R⁻, read from the table's history
            return Changes(table, columns)
        case Changes():
            raise ValueError("a delta plan has no delta")
        case Round():
            raise ValueError("a round has no delta of its own")
        case Values():
            # Δ(c) = ∅
            return empty(plan)
        case Filter(source, condition):
            # Δ(σ_p Q) = σ_p ΔQ
            return Filter(differentiate(source, changed), condition)
        case Project() if is_failing(plan):
            return _project_that_fails(plan, changed)
        case Project(source, columns):
            # Δ(π Q) = π ΔQ
            return Project(differentiate(source, changed), (*columns, _weight()))
        case Generate(source, generator, outputs, outer):
            # Δ(explode Q) = explode ΔQ
            return _ordered(plan, Generate(differentiate(source, changed), generator, outputs, outer))
        case UnionAll(inputs):
            # Δ(A ∪ B) = ΔA ∪ ΔB
            return UnionAll(tuple(differentiate(source, changed) for source in inputs))
        case Join():
            return _join(plan, changed)
        case Aggregate(source, keys):
            # Δ(γ_k Q) = γ_k(Q⁺ ⋉ K) − γ_k(Q⁻ ⋉ K), K = π_k ΔQ; without keys γ(Q⁺) − γ(Q⁻)
            expressions = exact_keys(tuple(key.expression for key in keys), source)
            read = without_idle_time(plan)
            if len(expressions) == len(keys) and (sums := subtractable(plan)) is not None:
                # … = γ_k(Q⁺ ⋉ K) and what it was, by its sums: A⁻ = A⁺ − ΔA
                delta = differentiate(read, changed)
                found = distinct_keys(delta, expressions)
                return difference_of_groups(plan, sums, after(read, changed), delta, found, expressions)
            return _by_key(plan, source, expressions, changed, read)
        case Distinct(source):
            # Δ(δQ) = δ(Q⁺ ⋉ K) − δ(Q⁻ ⋉ K), K = all columns of ΔQ
            return _by_key(plan, source, exact_keys(tuple(column(name) for name in source.names), source), changed)
        case Window(source):
            # Δ(ω_p Q) = ω_p(Q⁺ ⋉ K) − ω_p(Q⁻ ⋉ K), K = π_p ΔQ, p = what all functions are partitioned by
            partition = exact_keys(common_partition(plan), source)
            return _by_key(plan, source, partition, changed, _below_windows(source, partition))
        case SetOperation(left, right):
            # Δ(L ∩ R) = (L⁺ ⋉ K) ∩ (R⁺ ⋉ K) − (L⁻ ⋉ K) ∩ (R⁻ ⋉ K), K = all columns of ΔL ∪ ΔR; so for EXCEPT
            row = exact_keys(tuple(column(name) for name in plan.names), plan)
            if not row:
                return _before_and_after(plan, changed)
            deltas = UnionAll((differentiate(left, changed), differentiate(right, changed)))
            restricted = [having_keys(source, row, distinct_keys(deltas, row)) for source in (left, right)]
            return _before_and_after(with_sources(plan, tuple(restricted)), changed)
        case Limit():
            # Δ(top Q) = top(Q⁺) − top(Q⁻)
            return _before_and_after(plan, changed)
        case Recursive():
            # Δ(μ Q) = μ Q⁺ − μ Q⁻: a changed row can lead to any other
            return _before_and_after(plan, changed)
        case _:
            assert_never(plan)


# A full join asks for the delta of each side twice, and so does each one below it: 2ⁿ times, if not once for each operator.
_delta = remembered(_differentiate, most=1_000)


def _project_that_fails(plan: Project, changed: Tables) -> Plan:
    """Δ(π Q) = π(net ΔQ), failing for rows of positive weight only: these are in Q⁺.

    The terms of a delta hold rows that cancel out, and were in neither state. π(Q⁺) − π(Q⁻) for the one row of an
    aggregate without keys, which fails whatever is done with it, and where rows cannot be netted.
    """
    delta = net(differentiate(plan.source, changed))
    if not is_net(delta) or (isinstance(plan.source, Aggregate) and not plan.source.keys):
        return _before_and_after(plan, changed)
    columns = tuple(Named(named.name, raise_where_positive(named.expression, WEIGHT)) for named in plan.columns)
    return Project(delta, (*columns, _weight()))


def _join(plan: Join, changed: Tables) -> Plan:
    left, right, kind, condition = plan.left, plan.right, plan.kind, plan.condition
    match kind:
        case JoinKind.INNER:
            # Δ(R₁ ⋈ … ⋈ Rₙ) = Σᵢ R₁⁺ ⋈ … ⋈ Rᵢ₋₁⁺ ⋈ ΔRᵢ ⋈ Rᵢ₊₁⁻ ⋈ … ⋈ Rₙ⁻
            return _inner_join(plan, changed)
        case JoinKind.SEMI | JoinKind.ANTI | JoinKind.LEFT:
            # Δ(L ∘ R) = ΔL ∘ R⁺ + (L⁻ ⋉ ΔR) ∘ R⁺ − (L⁻ ⋉ ΔR) ∘ R⁻, for ∘ ∈ {⋉, ▷, ⟕}
            return _row_by_row_join(plan, changed)
        case JoinKind.RIGHT:
            # L ⟖ R = R ⟕ L
            mirrored = Join(right, left, JoinKind.LEFT, condition)
            return differentiate(Project(mirrored, keep(plan.names)), changed)
        case JoinKind.FULL:
            # L ⟗ R = (L ⟕ R) ∪ (NULL × (R ▷ L))
            matched = Join(left, right, JoinKind.LEFT, condition)
            return differentiate(UnionAll((matched, _unmatched_right(plan))), changed)
        case _:
            assert_never(kind)


def empty(plan: Plan) -> Plan:
    """The delta of a relation that did not change."""
    return without_rows(weighted(plan, 1))


def common_partition(window: Window) -> tuple[exp.Expression, ...]:
    """The expressions by which every function of the window is partitioned, in the first one's order."""
    first, *others = (tuple(f.expression.args.get("partition_by") or ()) for f in window.functions)
    return tuple(dict.fromkeys(part for part in first if all(part in other for other in others)))


def _inner_join(plan: Plan, changed: Tables) -> Plan:
    """One term for each input that changed, and exactly one factor of it has a weight.

    Nagata et al., "Implementation and evaluation of incremental view maintenance on PostgreSQL", section 2.3: with the
    states before and after at hand, n terms suffice and none corrects another. Each occurrence of a table in a self
    join is an input of its own.
    """
    inputs, conditions = join_chain(plan)
    # The clock last: its term then reads the others after the batch, so that no history is needed for it.
    inputs = tuple(sorted(inputs, key=lambda source: base_tables(source) == {CLOCK}))
    terms = []
    for i, source in enumerate(inputs):
        if base_tables(source) & changed:
            factors = (
                *(after(earlier, changed) for earlier in inputs[:i]),
                differentiate(source, changed),
                *(before(later, changed) for later in inputs[i + 1 :]),
            )
            terms.append(_ordered(plan, join_all(factors, conditions)))
    return UnionAll(tuple(terms))


def _row_by_row_join(plan: Join, changed: Tables) -> Plan:
    """Joins that are a function of one left row and the right rows it matches.

    Changed left rows meet R⁺. Of the others, only those that some changed right row matches can differ: the rows
    whose null-extended form appears or disappears (Larson, Zhou, "Efficient maintenance of materialized outer-join
    views", ICDE 2007) are among them, with their duplicates. Both states being at hand, no count of matches is stored.
    """
    left, right = plan.left, plan.right
    terms: list[Plan] = []
    if base_tables(left) & changed:
        delta = replace(plan, left=differentiate(left, changed), right=after(right, changed))
        terms.append(_ordered(plan, delta))
    if base_tables(right) & changed:
        rows = touched_by(before(left, changed), differentiate(right, changed), plan.condition)
        terms.append(
            difference(
                replace(plan, left=rows, right=after(right, changed)),
                replace(plan, left=rows, right=before(right, changed)),
            )
        )
    return UnionAll(tuple(terms))


def without_idle_time(aggregate: Aggregate) -> Plan:
    """π_read(Q): the input of an aggregate without the time where it is not read, for it changes in every row."""
    source = aggregate.source
    named = (*aggregate.keys, *aggregate.aggregates)
    idle = clock_names(source) - {name for column in named for name in references(column.expression)}
    kept = tuple(name for name in source.names if name not in idle)
    return source if not kept or kept == source.names else Project(source, keep(kept))


def _by_key(
    plan: Plan, source: Plan, expressions: tuple[exp.Expression, ...], changed: Tables, read: Plan | None = None
) -> Plan:
    """Operators local to a key: recomputed for the keys that occur in the delta of what they read of the input,
    everything without a key."""
    if not expressions:
        return _before_and_after(plan, changed)
    names = frozenset(name for expression in expressions for name in references(expression))
    rows = touched_left(read or source, names, changed, differentiate) or differentiate(read or source, changed)
    keys = distinct_keys(rows, expressions)
    return _before_and_after(with_sources(plan, (having_keys(source, expressions, keys),)), changed)


def _below_windows(source: Plan, partition: tuple[exp.Expression, ...]) -> Plan:
    """Q of ω_p′ Q where p ⊆ p′: a changed row of Q changes rows of its own partition only, so π_p ΔQ has all keys, and
    the inner window need not be recomputed to find them."""
    match source:
        case Window(inner) if set(partition) <= set(common_partition(source)):
            return _below_windows(inner, partition)
        case Filter(inner):
            below = _below_windows(inner, partition)
        case Project(inner, columns) if all(
            isinstance(part, exp.Column) and Named(part.name, part) in columns for part in partition
        ):
            below = _below_windows(inner, partition)
        case _:
            return source
    return source if below is inner else below


def _before_and_after(plan: Plan, changed: Tables) -> Plan:
    return difference(after(plan, changed), before(plan, changed))


def _unmatched_right(plan: Join) -> Plan:
    types = types_of(plan.left)
    nulls = tuple(Named(name, typed(exp.null(), types.get(name))) for name in plan.left.names)
    unmatched = Join(plan.right, plan.left, JoinKind.ANTI, plan.condition)
    return Project(unmatched, (*nulls, *keep(plan.right.names)))


def _ordered(plan: Plan, delta: Plan) -> Plan:
    """The delta with the plan's columns in order, then the weight."""
    names = (*plan.names, WEIGHT)
    return delta if delta.names == names else Project(delta, keep(names))


def _weight() -> Named:
    return Named(WEIGHT, column(WEIGHT))
