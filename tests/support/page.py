"""docs/sql-support.md, made anew by ``python -m tests.support.page``: constructs, then TPC-H and TPC-DS."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sqlglot import parse_one

from ivm_core.cost.model import Strategy
from ivm_core.errors import NoRule
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.job.strategy import strategy_of
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.user_functions import mark_aggregates
from tests.support.constructs import AGGREGATE_FUNCTIONS, REFUSED, TABLES, TOPICS, UPSTREAM, Construct
from tests.tpc.benchmark import KINDS, load
from tests.tpc.jobs import compiled
from tests.tpc.record import Outcome, recorded

PAGE = Path(__file__).parents[2] / "docs/sql-support.md"
_NAMES = {"tpch": "TPC-H", "tpcds": "TPC-DS"}
_INTRODUCTION = """\
# SQL support

Made by `python -m tests.support.page` from what the compiler says of each query; do not edit. The strategies are
explained in [writing views](views.md#strategies-and-reasons). They are those of a batch in which every table of the view
changed; where fewer changed, less is computed. Where *because* says that one group holds every row, or that nothing
restricts an operator, that part of the query is computed as a whole: `affected` then saves little.

## Constructs

Each example is compiled, built and maintained through several batches of random changes in `make test`, and compared
with its query after each: in DuckDB, by the jobs that run on Spark, or on Spark with Delta tables where † says that DuckDB
cannot run it. More random queries of these constructs are maintained in [other tests](correctness.md). Where *because* is empty,
`ivm explain` names nothing but operators that turn changes into changes.
"""
_TABLES = """
The tables are {tables}; `twice` and `shout` are functions of a row, `middle` is one of a group, named in
`ivm.aggregate_functions`. {views}.
"""
_HEAD = "| construct | strategy | because | example |\n|---|---|---|---|\n"
_REFUSED = """
### Refused

These are errors when the view is created, with line and column.

| construct | example | what is said |
|---|---|---|
"""
_BENCHMARKS = """
## TPC-H and TPC-DS

Every query is a view, with the text that DuckDB's extension packages hold, translated to Spark SQL by sqlglot. Where a
query has a LIMIT, all its columns are added to its ORDER BY, so that one answer is right. The tables hold random rows in
the likeness of the benchmark's own, with few keys, so that joins meet, and with the values that the query's filters ask
for; `tests/tpc/hints.py` says what else a query needs for its result to have rows in most states. A view is built; then
rows are inserted into all its tables, deleted from all, inserted, changed and deleted in all at once, and then in one
table after the other. After each batch it is compared with its query, as a bag.

*States equal*: how many states were compared in DuckDB, and how many of them had rows. The maintenance jobs are those that
run on Spark. *On Spark*: the strategy of each batch with Delta tables, where the query was run there, and how many of the
batches left rows; after each batch the view was compared with its query. One batch inserts, updates and deletes rows in all
tables at once; where there were three, another inserts and another deletes. The recorded runs are in
`tests/tpc/results.json`, made by `python -m tests.tpc.record` and `tests/tpc/test_spark.py`; `make test` runs a part of them.
"""


def render() -> str:
    """The page."""
    parts = [_INTRODUCTION, _tables()]
    for title, constructs in TOPICS.items():
        parts += [f"\n### {title}\n\n{_HEAD}", *map(_construct, constructs)]
    parts += [_REFUSED, *(_line(name, f"`{sql}`", said) for name, (sql, said) in REFUSED.items())]
    return "".join((*parts, _BENCHMARKS, *map(_benchmark, KINDS)))


def compiled_construct(construct: Construct) -> CompiledView:
    """The example as a view."""
    return compiled_query(construct.sql)


def compiled_query(sql: str) -> CompiledView:
    """A query over the examples' tables as a view."""
    query = parse_one(sql, read=SparkAsWritten)
    mark_aggregates(query, AGGREGATE_FUNCTIONS)
    return compile_view("shop.v", query, TABLES, "shop")


def strategy_and_detail(construct: Construct) -> tuple[Strategy, str]:
    """How its batches are, and because of what they are not incremental."""
    return _strategy(compiled_construct(construct))


def _strategy(view: CompiledView) -> tuple[Strategy, str]:
    try:
        strategy, _, detail = strategy_of(view)
    except NoRule as missing:
        return Strategy.FULL, str(missing)
    return strategy, detail


def _tables() -> str:
    tables = (
        f"`{name.removeprefix('shop.')}({', '.join(f'{column} {type_}' for column, type_ in table.columns)})`"
        for name, table in TABLES.items()
        if name not in UPSTREAM
    )
    views = (f"`{name.removeprefix('shop.')}` is the view `{sql}`" for name, sql in UPSTREAM.items())
    return _TABLES.format(tables=", ".join(tables), views=", ".join(views))


def _construct(construct: Construct) -> str:
    strategy, detail = strategy_and_detail(construct)
    return _line(construct.name, strategy.value, detail, f"`{construct.sql}`")


def _benchmark(kind: str) -> str:
    benchmark, outcomes = load(kind), recorded()
    rows, counts = [], {"incremental": 0, "affected": 0, "full": 0}
    for number, query in sorted(benchmark.queries.items()):
        strategy, detail = _strategy(compiled(benchmark, query))
        counts[strategy.value] += 1
        rows.append(_line(f"Q{number}", strategy.value, detail, *_results(outcomes.get(f"{kind} {number}"))))
    total = counts["incremental"] + counts["affected"]
    summary = f"{total} of {len(benchmark.queries)} are maintained without a full refresh: "
    summary += f"{counts['incremental']} `incremental`, {counts['affected']} `affected`. "
    known = [outcomes[f"{kind} {number}"] for number in benchmark.queries if f"{kind} {number}" in outcomes]
    summary += (
        f"Compared in DuckDB: {sum(o.states > 0 for o in known)} queries in {sum(o.states for o in known)} states, "
    )
    summary += (
        f"{sum(o.with_rows for o in known)} of them with rows; on Spark: {sum(o.spark != '' for o in known)} queries."
    )
    head = "| query | strategy | because | states equal | on Spark |\n|---|---|---|---|---|\n"
    return f"\n### {_NAMES[kind]}\n\n{summary}\n\n{head}" + "".join(rows)


def _results(outcome: Outcome | None) -> Iterable[str]:
    if outcome is None:
        return "", ""
    equal = f"{outcome.states} ({outcome.with_rows} with rows)" if outcome.states else ""
    batches = outcome.spark.count(",") + 1
    return equal, f"{outcome.spark} ({outcome.spark_with_rows} of {batches} with rows)" if outcome.spark else ""


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
