"""Two thousand random cases, six hundred in the ordinary run, and that the search finds and minimises what is wrong."""

from __future__ import annotations

import pytest

from ivm_core.delta import differentiate as rules
from ivm_core.plan.nodes import Plan
from tests.fuzz.search import search_views
from tests.sampling import one_in

VIEWS_PER_BLOCK, TRACES = 10, 20
BLOCKS = one_in(4, range(10))


@pytest.mark.parametrize("block", BLOCKS)
def test_random_views_follow_their_tables(block: int) -> None:
    found = search_views(range(block * VIEWS_PER_BLOCK, (block + 1) * VIEWS_PER_BLOCK), TRACES)
    assert not found.wrong, "\n\n".join(found.wrong)
    assert found.outcomes["right"] >= 0.8 * VIEWS_PER_BLOCK * TRACES, found


def test_a_wrong_rule_is_found_and_its_case_minimised(monkeypatch: pytest.MonkeyPatch) -> None:
    def stale(plan: Plan, changed: frozenset[str]) -> Plan:
        """R⁻ where the rule of the join asks for R⁺."""
        return rules.before(plan, changed)

    monkeypatch.setattr(rules, "after", stale)
    searched = (search_views(range(seed, seed + 1), 3) for seed in range(20, 40))
    found = next(found for found in searched if found.wrong)
    smallest = found.wrong[0].partition("Smallest case found:")[2]
    assert 0 < len(smallest) < len(found.wrong[0]) / 2
