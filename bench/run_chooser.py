"""``ivm bench chooser``: many views and changes: how often auto picks the faster way, and what its other picks cost."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass

from bench.bench_result import BenchResult
from bench.changes import Kind
from bench.chooser_report import describe
from bench.demo_display import Display
from bench.deployment import Place, warm_session
from bench.environment import environment
from bench.points import points_of
from bench.tpch_subjects import changed_trials, open_tpch, tpch_views
from bench.ways import Trial

SEED = 1


@dataclass(frozen=True, slots=True)
class ChooserOptions:
    """Every view is measured after every kind of change at every size."""

    scale: float = 0.1
    kinds: tuple[Kind, ...] = tuple(Kind)
    percents: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 50.0)
    views: tuple[str, ...] = ()
    repeats: int = 5


def run(options: ChooserOptions, place: Place, display: Display) -> BenchResult:
    """Run the benchmark. Raises EnvironmentProblem, SettingsError."""
    sizes = [(kind, percent) for kind in options.kinds for percent in options.percents]
    # In rising order each prediction would be made from smaller changes only: a deployment's come as they come.
    random.Random(SEED).shuffle(sizes)
    found: list[Trial] = []
    with warm_session(place, "chooser") as spark:
        facts = environment(spark, place.driver_memory)
        with open_tpch(place, "chooser", spark, options.scale, tpch_views(options.views), display) as tpch:
            for place_in_order, (kind, percent) in enumerate(sizes):
                if place_in_order:
                    with display.step("Back to loaded state"):
                        tpch.start_over()
                found += changed_trials(tpch, kind, percent, options.repeats, display, warm_up=place_in_order == 0)
            refused = tpch.refused
    return describe(asdict(options), facts, points_of(found), refused)
