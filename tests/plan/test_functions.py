"""Each function of Spark is known for what it is: a value of a row, of many rows, several rows, or not to be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from ivm_core.errors import DefinitionError
from ivm_core.plan.dialect import SparkParser
from ivm_core.plan.foreign_names import FOREIGN_NAMES
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.from_sql_aggregates import is_aggregate
from ivm_core.plan.functions import is_generator
from ivm_core.plan.statement import parse_queries, tokenize
from tests.plan.queries import TABLES

FILE = Path(__file__).parent.parent / "fixtures" / "plan" / "spark_functions.txt"


def read_functions() -> dict[str, tuple[str, ...]]:
    """Kind → the names of Spark's functions of that kind."""
    parts = (part.partition("\n") for part in FILE.read_text(encoding="utf-8").removeprefix("# ").split("\n# "))
    return {kind: tuple(names.split()) for kind, _, names in parts}


FUNCTIONS = read_functions()


def calls(name: str) -> list[str]:
    """Calls of the function with as many arguments as the parser will take for it, columns and text."""
    found = []
    for arguments in ("", "a", "a, b", "a, b, n", "'u', a", "'u', a, b", "a, '1 hour'", "a, b, n, a, b"):
        query = f"SELECT {name}({arguments}) AS x FROM t"
        try:
            parse_queries(tokenize(query), query)
        except DefinitionError:
            continue
        found.append(query)
    return found


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_a_function_is_taken_for_what_it_is(kind: str) -> None:
    for name in FUNCTIONS[kind]:
        if kind in ("operator", "table", "window"):
            continue
        queries = calls(name)
        assert queries, name
        for query in queries:
            call = parse_queries(tokenize(query), query)[0].expressions[0].this
            if name not in ("any", "mode"):  # any(a, b) is no aggregate, and an error
                assert is_aggregate(call) == (kind == "aggregate"), query
            assert is_generator(call) == (kind == "generator"), query


def test_no_name_is_known_that_spark_does_not_have() -> None:
    """A call of it is of a function that users made, whatever other engines take it for."""
    listed = {name for names in FUNCTIONS.values() for name in names}
    grammar = {"timestampadd", "timestampdiff", "try_cast"}
    hints = "broadcast broadcastjoin mapjoin merge mergejoin shuffle_hash shuffle_replicate_nl shufflemerge"
    known = {name.lower() for name in (*SparkParser.FUNCTIONS, *SparkParser.FUNCTION_PARSERS)}
    assert known - listed - grammar - set(hints.split()) == set()
    assert listed & FOREIGN_NAMES == set()


@pytest.mark.parametrize("name", [*FUNCTIONS["refused"], *FUNCTIONS["time window"], *FUNCTIONS["generator"]])
def test_no_value_of_a_row_is_refused_as_one(name: str) -> None:
    for query in calls(name):
        with pytest.raises(DefinitionError) as caught:
            from_sql(query.replace(" AS x FROM", " IS NULL AS x FROM") + " WHERE a > 1", TABLES, "shop")
        assert caught.value.line == 1 or name.startswith("current_"), query
