"""Any order of changes, runs, journeys back and refreshes: each view is what its query gives where it stands."""

from __future__ import annotations

import random

import pytest

from ivm_core import Engine
from tests.maintain.test_identities import QUERIES, Deployment
from tests.maintain.test_rewind import ABOVE, instant

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NAMES = ("rows", "totals", "counted", "per_name", "per_count")
STEPS = 12


def change(deployment: Deployment, chance: random.Random, step: int) -> None:
    deployment.run(
        f"INSERT INTO {{s}}.f VALUES ({100 + step}, {chance.randrange(4)}, 'g{step % 3}', {step})",
        f"UPDATE {{s}}.f SET v = coalesce(v, 0) + 1, k = {chance.randrange(4)} WHERE id % 3 = {chance.randrange(3)}",
        f"DELETE FROM {{s}}.f WHERE id = {chance.randrange(100, 101 + step)}",
    )
    if chance.random() < 0.5:
        deployment.run(f"UPDATE {{s}}.d SET name = 'n{step}' WHERE k = {chance.randrange(1, 4)}")


def go(engine: Engine, names: list[str] | None, moments: list, chance: random.Random) -> str:
    """Go back to one moment and on to a later one or to now, all views or some."""
    back, until = sorted(chance.choices(range(len(moments)), k=2))
    cut = engine.cut(names, as_of=moments[until]) if chance.random() < 0.6 else None
    engine.maintain(names, mode="rewind", as_of=moments[back], cut=cut)
    return f"from {back} to {until if cut else 'now'} {names or ''}"


@pytest.mark.parametrize("seed", range(2))
def test_every_view_is_right_where_it_stands(spark, tmp_path, seed):
    chance = random.Random(seed)
    schema = f"wander{seed}"
    deployment = Deployment(spark, tmp_path, schema, {n: q for n, q in (QUERIES | ABOVE).items() if n in NAMES})
    engine, moments, told = deployment.engine, [instant()], []
    for step in range(STEPS):
        some = sorted(f"{schema}.{name}" for name in chance.sample(NAMES, 2)) if chance.random() < 0.4 else None
        match chance.choice(("change", "change", "run", "back", "back", "refresh")):
            case "change":
                change(deployment, chance, step)
                engine.maintain(some)
                moments.append(instant())
                told.append(f"change {some or ''}")
            case "run":
                engine.maintain(some, as_of=chance.choice(moments))
                told.append(f"run {some or ''}")
            case "back":
                told.append(go(engine, some, moments, chance))
            case _:
                engine.refresh(f"{schema}.{chance.choice(NAMES)}")
                told.append("refresh")
        wrong = [name for name in NAMES if not engine.validate(f"{schema}.{name}").ok]
        assert not wrong, f"{wrong} after {told}"
    engine.maintain()
    deployment.check()
    strategies = {batch.strategy for name in NAMES for batch in engine.history(f"{schema}.{name}", 200)}
    assert "rewind" in strategies
