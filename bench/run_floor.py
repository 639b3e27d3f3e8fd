"""``ivm bench floor``: a batch of one view beside one read of the changes and one append or MERGE written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from bench.bench_result import BenchResult
from bench.changes import Kind
from bench.demo_display import Display
from bench.deployment import Deployment, Place, drop_schemas, make_schemas, warm_session
from bench.environment import environment
from bench.floor_report import FloorTrial, describe
from bench.plain_spark import same_rows
from bench.subjects import read_views
from bench.tpch_subjects import TpchSubjects, changes, open_tpch
from bench.ways import maintain_alone
from ivm_core.engine.log import TableLog
from ivm_core.engine.tables import describe_table
from ivm_core.plan.definition import ViewDefinition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parent / "floor"
CHANGED = "tpch.lineitem"
RAW_SCHEMA = "bench_raw"


@dataclass(frozen=True, slots=True)
class FloorOptions:
    """``percent`` of the orders are inserted before each measurement."""

    scale: float = 1.0
    percent: float = 0.1
    repeats: int = 5


def run(options: FloorOptions, place: Place, display: Display) -> BenchResult:
    """Run the benchmark. Raises EnvironmentProblem, and SettingsError where the tables have too few orders."""
    views = read_views([FOLDER / "views"])
    with warm_session(place, "floor") as spark:
        facts = environment(spark, place.driver_memory)
        with open_tpch(place, "floor", spark, options.scale, (), display) as tpch:
            try:
                with display.step("Build views", len(views)) as advance:
                    make_schemas(spark, RAW_SCHEMA)
                    for view in views:
                        tpch.place.engine.create(view.sql)
                        _create_raw(tpch.place, view)
                        advance(view.name)
                found = tuple(_measure(tpch, views, options, display))
            finally:
                drop_schemas(spark, RAW_SCHEMA, "bench_floor")
    return describe(asdict(options), facts, found)


def _measure(
    tpch: TpchSubjects, views: tuple[ViewDefinition, ...], options: FloorOptions, display: Display
) -> Iterator[FloorTrial]:
    log = _location(tpch.place.spark, CHANGED)
    before = TableLog(log).version()
    # One round more than is counted: the first meets code that no one has run yet.
    with display.step("Insert and maintain", (options.repeats + 1) * len(views)) as advance:
        for turn, rows in enumerate(changes(tpch, Kind.RF1, options.percent, options.repeats + 1, in_a_row=True)):
            newest = TableLog(log).version()
            for position, view in enumerate(views):
                trial = _trial(tpch.place, view, (before + 1, newest), rows[CHANGED], (turn + position) % 2 == 0)
                if turn:
                    yield trial
                advance(view.name)
            before = newest


def _trial(
    place: Deployment, view: ViewDefinition, versions: tuple[int, int], rows: int, raw_first: bool
) -> FloorTrial:
    name = view.name.rpartition(".")[2]
    statement = _bound((FOLDER / "raw" / f"{name}.sql").read_text("utf-8"), first=versions[0], last=versions[1])
    raw = partial(place.meter.measure, lambda: place.spark.sql(statement).collect(), str(_raw_location(place, view)))
    if raw_first:
        (_, floor), (reports, ours) = raw(), maintain_alone(place, view.name)
    else:
        (reports, ours), (_, floor) = maintain_alone(place, view.name), raw()
    expected = place.spark.table(_raw_name(view))
    return FloorTrial(
        view.name,
        str(reports[-1].strategy),
        floor,
        ours,
        rows,
        same_rows(place.spark, expected, place.engine.read(view.name)),
    )


def _create_raw(place: Deployment, view: ViewDefinition) -> None:
    properties = [
        exp.FileFormatProperty(this=exp.Var(this="DELTA")),
        exp.LocationProperty(this=exp.Literal.string(str(_raw_location(place, view)))),
        # The engine's own tables keep a change feed, for views above them.
        exp.Property(this=exp.Literal.string("delta.enableChangeDataFeed"), value=exp.Literal.string("true")),
    ]
    statement = exp.Create(
        this=exp.to_table(_raw_name(view)),
        kind="TABLE",
        properties=exp.Properties(expressions=properties),
        expression=view.whole,
    )
    place.spark.sql(statement.sql("spark")).collect()


def _raw_name(view: ViewDefinition) -> str:
    return f"{RAW_SCHEMA}.{view.name.rpartition('.')[2]}"


def _raw_location(place: Deployment, view: ViewDefinition) -> Path:
    return place.folder / "warehouse" / "raw" / view.name


def _location(spark: SparkSession, table: str) -> str:
    return describe_table(spark, table).location


def _bound(sql: str, **arguments: int) -> str:
    """The statement with the arguments in place of its ``:names``: Delta's MERGE leaves Spark's own markers unbound."""
    return str(exp.replace_placeholders(sqlglot.parse_one(sql, dialect="spark"), **arguments).sql("spark"))
