"""Rows that a batch takes away are found among those that differ from them in the last digits of a sum."""

from __future__ import annotations

import duckdb
import pytest

from ivm_core.cost.model import Reason, Strategy
from ivm_core.job.model import MaintenanceJob, Step, Write, WriteKind
from tests.job.duckdb_jobs import run

THIRD, NAN, INFINITY = 0.1 + 0.2, float("nan"), float("inf")

# Title: stored rows (name, sum, another sum), changes with weights, rows that are left; None: the state does not fit.
CASES = {
    "the last digit": ([("a", 0.3, 1.0)], [("a", THIRD, 1.0, -1), ("a", 5.0, 1.0, 1)], [("a", 5.0, 1.0)]),
    "nearly nothing": ([("a", 5e-17, 0.0)], [("a", 0.0, -2e-17, -1)], []),
    "a large sum": ([("a", 1e16 + 12, 1.0)], [("a", 1e16, 1.0, -1)], []),
    "the nearest": ([("a", 0.3, 1.0), ("a", 0.3000001, 1.0)], [("a", 0.3000001, 1.0, -1)], [("a", 0.3, 1.0)]),
    "one of equal rows": ([("a", 0.3, 1.0)] * 3, [("a", THIRD, 1.0, -2)], [("a", 0.3, 1.0)]),
    "two terms": ([("a", 0.3, 1.0)] * 2, [("a", THIRD, 1.0, -1), ("a", 0.3, 1.0, -1)], []),
    "two terms, two sums": ([("a", 0.3, 0.3)] * 2, [("a", THIRD, 0.3, -1), ("a", 0.3, THIRD, -1)], []),
    "two large sums": (
        [("a", 1e9 + 1.4, 1.0), ("a", 1e9 + 1.3, 1.0)],
        [("a", 1e9 + 1.3, 1.0, -1)],
        [("a", 1e9 + 1.4, 1.0)],
    ),
    "both large sums": ([("a", 1e9 + 1.4, 1.0)] * 2, [("a", 1e9 + 1.4, 1.0, -1), ("a", 1e9 + 1.3, 1.0, -1)], None),
    "a row added and taken away": ([("b", 1.0, 1.0)], [("a", THIRD, 1.0, 1), ("a", 0.3, 1.0, -1)], [("b", 1.0, 1.0)]),
    "an added row is nearer in the first sum": (
        [("a", 0.3, 1e9)],
        [("a", THIRD, 1e9, -1), ("a", THIRD, 1e9 + 900, 1)],
        [("a", THIRD, 1e9 + 900)],
    ),
    "NULL": ([("a", None, 1.0), ("a", 0.0, 1.0)], [("a", None, 1.0, -1)], [("a", 0.0, 1.0)]),
    "NaN": ([("a", NAN, 1.0), (None, NAN, 1.0)], [(None, NAN, 1.0, -1)], [("a", NAN, 1.0)]),
    "infinity": ([("a", INFINITY, 1.0), ("a", 1e300, 1.0)], [("a", 1e300, 1.0, -1)], [("a", INFINITY, 1.0)]),
    "another name": ([("a", 0.3, 1.0)], [("b", 0.3, 1.0, -1)], None),
    "another sum": ([("a", 0.3, 1.0)], [("a", 0.301, 1.0, -1)], None),
    "no NaN": ([("a", 0.3, 1.0)], [("a", NAN, 1.0, -1)], None),
    "no infinity": ([("a", 1e300, 1.0)], [("a", INFINITY, 1.0, -1)], None),
    "more copies": ([("a", 0.3, 1.0)], [("a", THIRD, 1.0, -2)], None),
}


@pytest.mark.parametrize("title", CASES)
def test_near_rows_are_taken_away(title: str) -> None:
    stored, changes, expected = CASES[title]
    write = Write(WriteKind.BAG, "changes", columns=("name", "s", "t"), approximate=("s", "t"))
    job = MaintenanceJob(
        "v", "", Strategy.AFFECTED, Reason.LINEAR, (), (), (Step("changes", "SELECT * FROM given"),), write
    )
    with duckdb.connect() as connection:
        connection.execute("CREATE TEMP TABLE state (name VARCHAR, s DOUBLE, t DOUBLE)")
        connection.executemany("INSERT INTO state VALUES (?, ?, ?)", stored)
        connection.execute("CREATE TABLE given (name VARCHAR, s DOUBLE, t DOUBLE, __ivm_weight BIGINT)")
        connection.executemany("INSERT INTO given VALUES (?, ?, ?, ?)", changes)
        if expected is None:
            with pytest.raises(duckdb.InvalidInputException, match="not stored"):
                run(connection, job, "state")
        else:
            run(connection, job, "state")
            assert str(sorted(connection.execute("FROM state").fetchall(), key=str)) == str(expected)
