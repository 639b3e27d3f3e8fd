"""``ivm bench trickle``: many small batches, without and with upkeep of states and tables, and their time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from bench.bench_result import BenchResult
from bench.changes import Kind
from bench.demo_display import Display
from bench.deployment import Deployment, Place, drop_schemas, warm_session
from bench.environment import environment
from bench.order_keys import loaded_orders
from bench.run_floor import FOLDER
from bench.subjects import read_views
from bench.tpch_subjects import TpchSubjects, changes, open_tpch, tpch_views
from bench.trickle_report import ALL_VIEWS, COMPACTED_EVERY, REFRESHES, Trickle, describe
from bench.ways import matches_full, refresh_fully
from ivm_core.engine.log import TableLog
from ivm_core.engine.upkeep import commits_since_checkpoint
from ivm_core.plan.definition import ViewDefinition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WARM_UP = 3  # batches that meet code that no one has run yet


@dataclass(frozen=True, slots=True)
class TrickleOptions:
    """``orders`` are touched by each batch; ``views``: of TPC-H, besides the three of the floor bench."""

    scale: float = 0.1
    batches: int = 1000
    orders: int = 10
    kind: Kind = Kind.RF1
    views: tuple[str, ...] = ()
    upkeep: tuple[bool, ...] = (False, True)


def run(options: TrickleOptions, place: Place, display: Display) -> BenchResult:
    """Run the benchmark. Raises EnvironmentProblem, SettingsError."""
    views = (*read_views([FOLDER / "views"]), *(tpch_views(options.views) if options.views else ()))
    found: list[Trickle] = []
    with warm_session(place, "trickle") as spark:
        facts = environment(spark, place.driver_memory)
        for upkeep in options.upkeep:
            limits = {} if upkeep else {"small_files": 0}
            with open_tpch(place, "trickle", spark, options.scale, (), display, limits) as tpch:
                try:
                    found += _measure(tpch, views, options, upkeep, display)
                finally:
                    drop_schemas(spark, "bench_floor")
    return describe(asdict(options), facts, found)


def _measure(
    tpch: TpchSubjects, views: Sequence[ViewDefinition], options: TrickleOptions, upkeep: bool, display: Display
) -> list[Trickle]:
    engine = tpch.place.engine
    with display.step("Build views", len(views)) as advance:
        for view in views:
            engine.create(view.sql)
            advance(view.name)
    seconds: dict[str, list[float]] = {name: [] for name in (*(view.name for view in views), ALL_VIEWS)}
    strategies: dict[str, str] = {}
    percent = 100 * options.orders / loaded_orders(options.scale)
    rows: list[int] = []
    title = "Batches, upkeep" if upkeep else "Batches, no upkeep"
    with display.step(title, options.batches + WARM_UP) as advance:
        for turn, changed in enumerate(changes(tpch, options.kind, percent, options.batches + WARM_UP, in_a_row=True)):
            if upkeep and turn and turn % COMPACTED_EVERY == 0:
                compact(tpch.place.spark, changed)
            started = time.monotonic()
            reports = engine.maintain()
            taken = time.monotonic() - started
            if turn >= WARM_UP:
                rows.append(sum(changed.values()))
                seconds[ALL_VIEWS].append(taken)
                for report in (one for one in reports if one.view in seconds):  # parts that views keep are not
                    seconds[report.view].append(report.seconds)
                    strategies[report.view] = str(report.strategy)
            advance(f"{taken:.2f} s")
    with display.step("Compare", len(views)) as advance:
        found = []
        for view in views:
            found.append(_finished(tpch.place, view, upkeep, seconds[view.name], strategies[view.name], rows))
            advance(view.name)
    whole = Trickle(
        ALL_VIEWS,
        upkeep,
        "group",
        tuple(seconds[ALL_VIEWS]),
        sum(one.full_seconds for one in found),
        sum(rows) / max(1, len(rows)),
        sum(one.files for one in found),
        max(one.commits_to_read for one in found),
        all(one.equal for one in found),
    )
    return [*found, whole]


def compact(spark: SparkSession, tables: Iterable[str]) -> None:
    """Put the small files of base tables together; no row changes."""
    from delta.tables import DeltaTable

    for table in tables:
        DeltaTable.forName(spark, table).optimize().executeCompaction()


def _finished(
    place: Deployment, view: ViewDefinition, upkeep: bool, seconds: Sequence[float], strategy: str, rows: Sequence[int]
) -> Trickle:
    """What the batches of one view left behind, compared with a full refresh."""
    location = place.engine.catalog.view(view.name).location
    fulls = [refresh_fully(place, view.name, view.whole).seconds for _ in range(REFRESHES)]
    return Trickle(
        view.name,
        upkeep,
        strategy,
        tuple(seconds),
        median(fulls),
        sum(rows) / max(1, len(rows)),
        TableLog(location).size().files,
        commits_since_checkpoint(location) or 0,
        matches_full(place, view.name, view.name),
    )
