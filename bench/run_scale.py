"""``ivm bench scale``: the same number of changed orders at several scale factors: how a batch grows with its tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bench.bench_result import BenchResult
from bench.changes import Kind
from bench.demo_display import Display
from bench.deployment import Place, warm_session
from bench.environment import environment
from bench.order_keys import loaded_orders
from bench.points import points_of
from bench.scale_report import describe
from bench.tpch_subjects import WARM_UP, changed_trials, open_tpch, tpch_views
from bench.ways import Trial
from ivm_core.errors import SettingsError


@dataclass(frozen=True, slots=True)
class ScaleOptions:
    """``orders``: how many orders each change touches, at every scale factor."""

    scales: tuple[float, ...] = (0.1, 1.0)
    orders: int = 1500
    kind: Kind = Kind.BOTH
    views: tuple[str, ...] = ()
    repeats: int = 5


def run(options: ScaleOptions, place: Place, display: Display) -> BenchResult:
    """Run the benchmark. Raises EnvironmentProblem, and SettingsError where a scale factor has too few orders."""
    smallest = loaded_orders(min(options.scales))
    if options.orders * 2 > smallest:
        raise SettingsError(
            f"A change of {options.orders} orders is more than half of the {smallest} at SF {min(options.scales):g}: "
            "give fewer orders or larger scale factors."
        )
    with warm_session(place, "scale") as spark:
        facts = environment(spark, place.driver_memory)
        found: list[Trial] = []
        refused: dict[str, str] = {}
        for scale in sorted(options.scales):
            with open_tpch(place, "scale", spark, scale, tpch_views(options.views), display) as tpch:
                warm_up = WARM_UP if scale == min(options.scales) else 1
                percent = 100 * options.orders / loaded_orders(scale)
                found += changed_trials(tpch, options.kind, percent, options.repeats, display, warm_up=warm_up)
                refused |= tpch.refused
    return describe(asdict(options), facts, points_of(found), refused)
