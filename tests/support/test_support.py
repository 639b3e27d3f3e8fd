"""The page on SQL support says what the compiler does, and its examples are maintained."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import duckdb
import pytest

from ivm_core.job.strategy import strategy_of
from tests.job.duckdb_jobs import connect
from tests.job.test_meaning_duckdb import WRITTEN, check_written
from tests.support.constructs import CONSTRUCTS, Construct
from tests.support.page import PAGE, compiled_construct, render
from tests.tpc.benchmark import KINDS, is_installed


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(WRITTEN) as opened:
        yield opened


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda construct: construct.name)
def test_an_example_is_maintained_as_the_page_says(connection: duckdb.DuckDBPyConnection, construct: Construct) -> None:
    assert strategy_of(compiled_construct(construct))[0] is construct.strategy
    if "current_date" not in construct.sql:  # time is a table of the tests in tests/delta
        check_written(connection, construct.sql, zlib.crc32(construct.sql.encode()))


@pytest.mark.skipif(not all(map(is_installed, KINDS)), reason="no packages duckdb-extension-tpch and -tpcds")
def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run python -m tests.support.page"
