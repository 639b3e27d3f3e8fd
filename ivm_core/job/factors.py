"""Unchanged inputs of a join taken out of the terms of its delta: A ⋈ P ∪ B ⋈ P → (A ∪ B) ⋈ P.

The telescoping sum has a term for each changed input, and every term joins all the others. Where P did not change it is
the same P in each of them: joined once, it is read once, and the batch has fewer joins to plan and to start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ivm_core.job.facts import Facts, joins_by_key
from ivm_core.plan.join_chain import join_all, join_chain
from ivm_core.plan.nodes import WEIGHT, Plan, Project, UnionAll, keep, references
from ivm_core.plan.rewrite import transform_up


def factor_terms(plan: Plan, facts: Facts) -> Plan:
    """The plan with what all terms of a union join taken out of it; unchanged where the rest would be a product.

    ``facts``: what is known of the tables; without any the plan stays as it is.
    """
    if not facts:
        return plan
    return transform_up(plan, lambda node: _factored(node, facts) if isinstance(node, UnionAll) else node)


@dataclass(frozen=True, slots=True)
class _Term:
    """One term: the inputs of its inner joins, and their conditions."""

    inputs: tuple[Plan, ...]
    conditions: tuple[exp.Expression, ...]

    @classmethod
    def of(cls, plan: Plan) -> _Term | None:
        source = plan.source if isinstance(plan, Project) and plan.columns == keep(plan.names) else plan
        inputs, conditions = join_chain(source)
        weighted = sum(WEIGHT in one.names for one in inputs) == 1
        return cls(inputs, conditions) if len(inputs) > 1 and weighted else None

    def split(self, common: Sequence[Plan]) -> tuple[_Term, frozenset[exp.Expression]]:
        """Without the common inputs, and the conditions that name their columns."""
        outside = {name for one in common for name in one.names}
        inner = tuple(c for c in self.conditions if not references(c) & outside)
        rest = _Term(tuple(one for one in self.inputs if one not in common), inner)
        return rest, frozenset(self.conditions).difference(inner)

    def names(self) -> frozenset[str]:
        return frozenset(name for one in self.inputs for name in one.names)

    def follows_keys(self, facts: Facts) -> bool:
        """From the changes outwards, each input is joined by a declared key: an unchanged one would not keep them few."""
        joined = [one for one in self.inputs if WEIGHT in one.names]
        waiting = [one for one in self.inputs if WEIGHT not in one.names]
        while waiting:
            following = next((one for one in waiting if joins_by_key(one, joined, self.conditions, facts)), None)
            if following is None:
                return False
            waiting.remove(following)
            joined.append(following)
        return True


def _factored(union: UnionAll, facts: Facts) -> Plan:
    """All terms without what they have in common; else all but the last one, for Rₙ⁻ is in each of the others."""
    terms = [_Term.of(source) for source in union.sources]
    for last in (len(terms), len(terms) - 1):
        known = [term for term in terms[:last] if term is not None]
        if last < 2 or len(known) < last:
            continue
        for chosen in _choices([one for one in known[0].inputs if all(one in term.inputs for term in known[1:])]):
            plan = _taken_out(union, known, chosen, facts)
            if plan is not None:
                return plan if last == len(terms) else UnionAll((plan, *union.sources[last:]))
    return union


def _choices(common: list[Plan]) -> Iterable[list[Plan]]:
    """All common inputs; else without one of them, which may be what links the others."""
    if common:
        yield common
    if len(common) > 1:
        for at in range(len(common)):
            yield common[:at] + common[at + 1 :]


def _taken_out(union: UnionAll, terms: list[_Term], common: list[Plan], facts: Facts) -> Plan | None:
    if any(WEIGHT in one.names for one in common):
        return None
    split = [term.split(common) for term in terms]
    rests, links = [rest for rest, _ in split], split[0][1]
    if any(shared != links for _, shared in split) or not all(rest.follows_keys(facts) for rest in rests):
        return None
    outside = {name for one in common for name in one.names}
    needed = {*union.names, *(name for c in links for name in references(c))} - outside
    if not all(needed <= rest.names() for rest in rests):
        return None
    names = tuple(name for name in (*union.names, *sorted(needed - set(union.names))) if name in needed)
    inside = _factored(UnionAll(tuple(Project(join_all(r.inputs, r.conditions), keep(names)) for r in rests)), facts)
    outer = tuple(c for c in terms[0].conditions if c in links)
    return Project(join_all((inside, *common), outer), keep(union.names))
