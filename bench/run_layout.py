"""``ivm bench layout``: batches over scattered tables, and over the same ones laid out as ``ivm doctor`` advises."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import partial

from bench.bench_result import BenchResult
from bench.changes import Kind
from bench.demo_display import Display
from bench.deployment import Place, warm_session
from bench.environment import environment
from bench.layout_report import Advice, describe
from bench.points import points_of
from bench.tpch_subjects import WARM_UP, TpchSubjects, changed_trials, open_tpch, tpch_views
from ivm_core.errors import SettingsError
from ivm_core.maintain.layout import FILE_SIZE, layouts

VIEWS = ("q03", "q04", "q05", "q10", "q18", "q21")  # what joins orders with their lines


@dataclass(frozen=True, slots=True)
class LayoutOptions:
    """``percent`` of the orders change each time."""

    scale: float = 1.0
    kind: Kind = Kind.BOTH
    percent: float = 0.1
    views: tuple[str, ...] = VIEWS
    repeats: int = 5
    warm_up: int = WARM_UP


def run(options: LayoutOptions, place: Place, display: Display) -> BenchResult:
    """Run the benchmark. Raises EnvironmentProblem, and SettingsError where nothing is advised."""
    views = tpch_views(options.views)
    with warm_session(place, "layout") as spark:
        facts = environment(spark, place.driver_memory)
        with open_tpch(place, "layout", spark, options.scale, views, display, scattered=True) as tpch:
            measured = partial(changed_trials, tpch, options.kind, options.percent, options.repeats, display)
            scattered = points_of(measured(warm_up=options.warm_up))
            tpch.start_over()
            advice = _follow(tpch, display)
            tpch.catch_up()
            laid_out = points_of(measured(warm_up=1))
            refused = tpch.refused
    return describe(asdict(options), facts, advice, scattered, laid_out, refused)


def _follow(tpch: TpchSubjects, display: Display) -> tuple[Advice, ...]:
    """Run the statements that ``ivm doctor`` shows."""
    spark = tpch.place.spark
    advised = [layout for layout in layouts(tpch.place.engine._session) if layout.statements]
    if not advised:
        raise SettingsError(
            f"At SF {tpch.scale:g} `ivm doctor` has nothing to advise for these views: take a larger scale factor, or views "
            "that join large tables."
        )
    found = []
    try:
        with display.step("Follow the advice of ivm doctor", len(advised)) as advance:
            for layout in advised:
                began = time.perf_counter()
                for statement in layout.statements:
                    spark.sql(statement).collect()
                found.append(Advice(layout.table, layout.detail, layout.statements, time.perf_counter() - began))
                advance(layout.table)
    finally:
        spark.conf.unset(FILE_SIZE)
    return tuple(found)
