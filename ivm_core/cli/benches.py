"""``ivm bench …``: the repository's benchmarks, one command each."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ivm_core.cli.options import AsJson
from ivm_core.cli.output import print_json
from ivm_core.errors import DriftError, EnvironmentProblem

if TYPE_CHECKING:
    from bench.bench_result import BenchResult
    from bench.changes import Kind
    from bench.demo_display import Display
    from bench.deployment import Place

bench = typer.Typer(
    name="bench",
    help="Measure this project against plain Spark on this machine; writes JSON and one HTML page with charts.",
    no_args_is_help=True,
)

Folder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Where results go. Default: .ivm/bench.", show_default=False),
]
Scale = Annotated[float, typer.Option("--sf", min=0.001, help="TPC-H scale factor; 1 is about 1 GB.")]
Change = Annotated[str, typer.Option("--change", help="RF1, RF2, RF1+RF2 or RF3.")]
Percent = Annotated[float, typer.Option("--percent", min=0.0001, max=10, help="Percent of the orders changed.")]
Views = Annotated[
    list[str] | None,
    typer.Option(
        "--views", metavar="NAME", help="A view, or how its name begins; may be repeated.", show_default=False
    ),
]
Repeat = Annotated[
    int, typer.Option("--repeat", min=1, help="Measurements of each figure, of which the median is taken.")
]
Master = Annotated[str, typer.Option("--master", help="Spark's master.")]
Memory = Annotated[str, typer.Option("--driver-memory", help="Memory of the Spark driver.")]


@bench.command()
def tpch(
    sf: Scale = 1.0,
    change: Change = "RF1+RF2",
    percent: Annotated[
        list[float] | None,
        typer.Option("--percent", min=0, max=50, help="Percent of the orders changed; may be repeated. Default: 0.1."),
    ] = None,
    break_even: Annotated[
        bool, typer.Option("--break-even", help="Measure 0, 0.01, 0.1, 1, 5, 10, 25 and 50 percent.")
    ] = False,
    views: Views = None,
    repeat: Repeat = 5,
    group: Annotated[bool, typer.Option(help="Also measure all views in one run.")] = True,
    out: Folder = None,
    master: Master = "local[*]",
    driver_memory: Memory = "3g",
    as_json: AsJson = False,
) -> None:
    """Every TPC-H view: full refresh, incremental and auto after changes of given sizes."""
    _check_installed()
    from bench.run_tpch import BREAK_EVEN, TpchOptions, run

    percents = BREAK_EVEN if break_even else tuple(dict.fromkeys(percent or (0.1,)))
    options = TpchOptions(sf, _kind(change), percents, tuple(views or ()), repeat, group)
    _finish(lambda place, display: run(options, place, display), out, master, driver_memory, as_json)


@bench.command()
def floor(
    sf: Scale = 1.0,
    percent: Annotated[
        float, typer.Option("--percent", min=0.0001, max=10, help="Percent of the orders inserted each time.")
    ] = 0.1,
    repeat: Repeat = 5,
    out: Folder = None,
    master: Master = "local[*]",
    driver_memory: Memory = "3g",
    as_json: AsJson = False,
) -> None:
    """A batch of one view beside one read of the changes and one append or MERGE by hand."""
    _check_installed()
    from bench.run_floor import FloorOptions, run

    options = FloorOptions(sf, percent, repeat)
    _finish(lambda place, display: run(options, place, display), out, master, driver_memory, as_json)


@bench.command()
def scale(
    sf: Annotated[
        list[float] | None,
        typer.Option(
            "--sf", min=0.001, help="A scale factor; may be repeated. Default: 0.1 and 1.", show_default=False
        ),
    ] = None,
    orders: Annotated[int, typer.Option("--orders", min=1, help="Orders that each change touches.")] = 1500,
    change: Change = "RF1+RF2",
    views: Views = None,
    repeat: Repeat = 5,
    out: Folder = None,
    master: Master = "local[*]",
    driver_memory: Memory = "3g",
    as_json: AsJson = False,
) -> None:
    """The same change at several scale factors: how a batch grows with the base."""
    _check_installed()
    from bench.run_scale import ScaleOptions, run

    scales = tuple(sorted(set(sf or (0.1, 1.0))))
    options = ScaleOptions(scales, orders, _kind(change), tuple(views or ()), repeat)
    _finish(lambda place, display: run(options, place, display), out, master, driver_memory, as_json)


@bench.command()
def ways(
    sf: Scale = 1.0,
    change: Change = "RF1+RF2",
    percent: Percent = 0.1,
    way: Annotated[
        list[str] | None, typer.Option("--way", metavar="NAME", help="A way; may be repeated. Default: all.")
    ] = None,
    views: Views = None,
    repeat: Repeat = 5,
    out: Folder = None,
    master: Master = "local[*]",
    driver_memory: Memory = "3g",
    as_json: AsJson = False,
) -> None:
    """What each way to make a batch fast brings: batches with it and without it."""
    _check_installed()
    from bench.run_ways import WaysOptions, run

    options = WaysOptions(sf, _kind(change), percent, tuple(way or ()), tuple(views or ()), repeat)
    _finish(lambda place, display: run(options, place, display), out, master, driver_memory, as_json)


@bench.command()
def layout(
    sf: Scale = 1.0,
    change: Change = "RF1+RF2",
    percent: Percent = 0.1,
    views: Views = None,
    repeat: Repeat = 5,
    out: Folder = None,
    master: Master = "local[*]",
    driver_memory: Memory = "3g",
    as_json: AsJson = False,
) -> None:
    """Batches over scattered tables, and over the same ones laid out as `ivm doctor` advises."""
    _check_installed()
    from bench.run_layout import VIEWS, LayoutOptions, run

    options = LayoutOptions(sf, _kind(change), percent, tuple(views or VIEWS), repeat)
    _finish(lambda place, display: run(options, place, display), out, master, driver_memory, as_json)


@bench.command()
def trickle(
    sf: Scale = 0.1,
    batches: Annotated[int, typer.Option("--batches", min=3, help="How many batches, one after the other.")] = 1000,
    orders: Annotated[int, typer.Option("--orders", min=1, help="Orders that each batch touches.")] = 10,
    change: Change = "RF1",
    views: Views = None,
    upkeep: Annotated[
        str,
        typer.Option(
            "--upkeep", help="Upkeep of states and base tables: on, off, or both in turn.", metavar="on|off|both"
        ),
    ] = "both",
    out: Folder = None,
    master: Master = "local[*]",
    driver_memory: Memory = "3g",
    as_json: AsJson = False,
) -> None:
    """Many small batches: percentiles, growth over the run, and what upkeep does to it."""
    _check_installed()
    from bench.run_trickle import TrickleOptions, run

    wanted = {"on": (True,), "off": (False,), "both": (False, True)}
    if upkeep not in wanted:
        raise typer.BadParameter(f"use one of {', '.join(wanted)}", param_hint="--upkeep")
    options = TrickleOptions(sf, batches, orders, _kind(change), tuple(views or ()), wanted[upkeep])
    _finish(lambda place, display: run(options, place, display), out, master, driver_memory, as_json)


@bench.command()
def dag(
    scale: Annotated[float, typer.Option("--scale", min=0.0002, help="Size; 1 has a million orders.")] = 0.1,
    percent: Annotated[
        list[float] | None,
        typer.Option("--percent", min=0.001, max=50, help="Percent changed; may be repeated. Default: 1 and 0.1."),
    ] = None,
    views: Views = None,
    repeat: Repeat = 5,
    warm_up: Annotated[int, typer.Option("--warm-up", min=0, help="Changes of each size that are not counted.")] = 1,
    by_hand: Annotated[bool, typer.Option(help="Also run incremental models written by hand, as with dbt.")] = True,
    out: Folder = None,
    master: Master = "local[*]",
    driver_memory: Memory = "3g",
    as_json: AsJson = False,
) -> None:
    """A warehouse of 48 views, bronze to gold: the whole group against models by plain Spark, and by hand."""
    _check_installed()
    from bench.run_dag import DagOptions, run

    percents = tuple(dict.fromkeys(percent or (1.0, 0.1)))
    options = DagOptions(scale, percents, repeat, tuple(views or ()), warm_up, by_hand)
    _finish(lambda place, display: run(options, place, display), out, master, driver_memory, as_json)


@bench.command()
def chooser(
    sf: Scale = 0.1,
    change: Annotated[
        list[str] | None, typer.Option("--change", help="RF1, RF2, RF1+RF2 or RF3; may be repeated. Default: all.")
    ] = None,
    percent: Annotated[
        list[float] | None,
        typer.Option("--percent", min=0.001, max=50, help="May be repeated. Default: 0.01, 0.1, 1, 10 and 50."),
    ] = None,
    views: Views = None,
    repeat: Repeat = 5,
    out: Folder = None,
    master: Master = "local[*]",
    driver_memory: Memory = "3g",
    as_json: AsJson = False,
) -> None:
    """Many views and changes: how often auto picks the faster way, and what its other picks cost."""
    _check_installed()
    from bench.changes import Kind
    from bench.run_chooser import ChooserOptions, run

    kinds = tuple(dict.fromkeys(_kind(name) for name in change or tuple(Kind)))
    percents = tuple(dict.fromkeys(percent or (0.01, 0.1, 1.0, 10.0, 50.0)))
    options = ChooserOptions(sf, kinds, percents, tuple(views or ()), repeat)
    _finish(lambda place, display: run(options, place, display), out, master, driver_memory, as_json)


def _kind(change: str) -> Kind:
    from bench.changes import Kind

    kinds: dict[str, Kind] = {str(kind): kind for kind in Kind}
    if change.upper() not in kinds:
        raise typer.BadParameter(f"use one of {', '.join(kinds)}", param_hint="--change")
    return kinds[change.upper()]


def _check_installed() -> None:
    """Raise EnvironmentProblem where the benchmarks, or what they need, are not here."""
    try:
        import bench.bench_output
        import bench.tpch_data  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] == "bench":
            raise EnvironmentProblem(
                "The benchmarks are part of the repository: clone it and run `ivm bench` there."
            ) from None
        raise EnvironmentProblem(
            f"The benchmarks need the package {error.name}: run `make setup`, which installs it."
        ) from None


def _finish(
    run: Callable[[Place, Display], BenchResult], out: Path | None, master: str, driver_memory: str, as_json: bool
) -> None:
    """Run a benchmark, write and show its result. Raises DriftError where a view was found wrong."""
    from bench.bench_output import show_result, write_result
    from bench.demo_display import Display
    from bench.deployment import ROOT, Place
    from bench.environment import peak_memory

    folder = (out or ROOT / ".ivm" / "bench").absolute()
    with Display(as_json) as display:
        result: Any = run(Place(folder, master, driver_memory), display)
    command = shlex.join(["ivm", *sys.argv[1:]]) if sys.argv[1:2] == ["bench"] else ""
    result = replace(result, command=command, peak_memory_mb=peak_memory())
    _, page = write_result(result, folder)
    if result.wrong:
        raise DriftError(f"Not every view is right: {', '.join(result.wrong)}. See {page}.")
    if as_json:
        print_json(result.document())
    else:
        show_result(result, page)
