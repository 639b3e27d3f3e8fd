"""The codes of ``ivm explain``, each by its example in the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import parse_one

from ivm_core.delta.reasons import Code
from ivm_core.job.compile import compile_view
from ivm_core.maintain.explain import operator_strategies
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.schema import TableSchema

DOCUMENT = Path(__file__).parents[2] / "docs" / "views.md"
TABLES = {
    schema.name: schema
    for schema in (
        TableSchema("s.t", (("k", "int"), ("x", "int"), ("f", "double"), ("n", "bigint"), ("m", "map<int,int>"))),
        TableSchema("s.u", (("k", "int"), ("y", "int"))),
    )
}


def documented() -> dict[str, tuple[str, str]]:
    """Code → its example and what the document says to change."""
    section = DOCUMENT.read_text(encoding="utf-8").partition("### Codes of")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| `")]
    return {code.strip("`"): (example.strip("`"), change) for code, _, example, change in rows}


def test_every_code_is_documented() -> None:
    assert list(documented()) == sorted(Code, key=list(documented()).index)


@pytest.mark.parametrize("code", Code)
def test_the_example_of_a_code_is_maintained_so(code: Code) -> None:
    example, change = documented()[code]
    view = compile_view("s.v", parse_one(example, read=SparkAsWritten), TABLES, "s")
    found = {item.reason: item for item in operator_strategies(view)}
    assert code in found
    assert bool(found[code].advice) == bool(change)
