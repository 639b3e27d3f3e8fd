"""What a run of all queries found, kept in results.json; ``python -m tests.tpc.record [tpch|tpcds [number …]]`` runs them."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.tpc.benchmark import KINDS, load, numbers
from tests.tpc.jobs import check_query

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Outcome:
    """States compared in DuckDB, all of them equal, and those with rows.

    ``spark``: the strategies of the batches there, after each of which the view was right; and how many left rows.
    """

    states: int = 0
    with_rows: int = 0
    spark: str = ""
    spark_with_rows: int = 0


def recorded() -> dict[str, Outcome]:
    """By benchmark and number: ``tpch 1``."""
    return {query: Outcome(**found) for query, found in json.loads(RESULTS.read_text()).items()}


def record(query: str, **found: int | str) -> None:
    """Keep what was found of a query besides what is known of it."""
    outcomes = recorded()
    outcomes[query] = replace(outcomes.get(query, Outcome()), **found)  # type: ignore[arg-type]
    lines = (f"{json.dumps(key)}: {json.dumps(asdict(outcomes[key]))}" for key in sorted(outcomes, key=_order))
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _order(query: str) -> tuple[int, int]:
    kind, number = query.split()
    return KINDS.index(kind), int(number)


def main(kinds: list[str], only: set[int], batches: int | None) -> None:
    """Run the queries and record them; one that fails is recorded as not compared."""
    for kind in kinds:
        for number in numbers(kind):
            if only and number not in only:
                continue
            try:
                states, with_rows = check_query(load(kind), number, batches)
            except Exception as failure:
                states = with_rows = 0
                print(f"{kind} {number}: {type(failure).__name__} {failure}", flush=True)
            record(f"{kind} {number}", states=states, with_rows=with_rows)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("kind", nargs="?", choices=KINDS)
    parser.add_argument("number", nargs="*", type=int)
    parser.add_argument("--batches", type=int, help="at most so many of each query")
    asked = parser.parse_args()
    main([asked.kind] if asked.kind else list(KINDS), set(asked.number), asked.batches)
