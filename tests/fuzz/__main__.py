"""``python -m tests.fuzz --cases 100000 --seed 1``: search for wrong views; ``--show SEED`` prints one view's case.

``--spark`` takes views through traces on Spark and Delta by the whole path, with a session for each process.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.fuzz.on_spark import BLOCK as SPARK_BLOCK
from tests.fuzz.on_spark import TRACES as SPARK_TRACES
from tests.fuzz.on_spark import search_in_own_session
from tests.fuzz.search import TRACES, Findings, draw, search_views

BLOCK = 10  # views that one task looks at
APART = 1_000_000  # between the views of one seed and those of the next


def main() -> int:
    """Exit code 0 where all cases are right, 1 where one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="(view, trace) pairs to run")
    parser.add_argument("--seed", type=int, default=1, help="another seed searches elsewhere")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--spark", action="store_true", help="on Spark and Delta rather than in DuckDB")
    parser.add_argument("--show", type=int, help="print the query of one view and look at it again")
    options = parser.parse_args()
    if options.show is not None:
        found = search_views(range(options.show, options.show + 1))
        print(draw(options.show)[0], *found.wrong, sep="\n\n")
        return 1 if found.wrong else 0
    started = time.monotonic()
    search = _search_on_spark if options.spark else _search
    found = search(options.cases, options.seed * APART, options.processes)
    summary = {
        "seed": options.seed,
        "cases": found.cases,
        "views": found.views,
        "batches": found.batches,
        "outcomes": dict(found.outcomes),
        "seconds": round(time.monotonic() - started),
        "refusals": dict(found.refusals.most_common(20)),
    }
    print(json.dumps(summary, indent=2))
    for wrong in found.wrong:
        print(f"\nWRONG {wrong}", file=sys.stderr)
    return 1 if found.wrong else 0


def _search(cases: int, first: int, processes: int) -> Findings:
    return _spread(search_views, -(-cases // TRACES), first, processes)


def _search_on_spark(cases: int, first: int, processes: int) -> Findings:
    with TemporaryDirectory(prefix="ivm-fuzz-") as folder:
        search = partial(search_in_own_session, Path(folder))
        return _spread(search, -(-cases // SPARK_TRACES), first, processes, SPARK_BLOCK)


def _spread(
    search: Callable[[range], Findings], views: int, first: int, processes: int, block: int = BLOCK
) -> Findings:
    blocks = [range(first + at, first + min(at + block, views)) for at in range(0, views, block)]
    total = Findings()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        Progress(*columns, console=Console(stderr=True)) as progress,
        # Not a ProcessPoolExecutor: with max_tasks_per_child it stops for ever when a process ends (CPython #115634).
        get_context("spawn").Pool(processes, maxtasksperchild=50) as pool,
    ):
        bar = progress.add_task("views", total=views)
        for found in pool.imap_unordered(search, blocks):
            total.add(found)
            progress.update(bar, advance=found.views, description=f"views, {len(total.wrong)} wrong")
            if not progress.console.is_terminal:
                print(f"{total.cases} cases, {dict(total.outcomes)}", file=sys.stderr, flush=True)
            for wrong in found.wrong:
                progress.console.print(f"WRONG {wrong}\n", markup=False, highlight=False)
    return total


if __name__ == "__main__":
    sys.exit(main())
