"""Users' expectations are untrusted text: what is known is read, anything else is refused by name."""

from __future__ import annotations

import json

import pytest

from ivm_core.errors import DefinitionError
from ivm_core.maintain.expectations import read_folder
from ivm_core.plan.definition import parse_definition
from ivm_core.validate.expectations import TYPES, read_expectations, to_json
from ivm_core.validate.expectations_python import read_python

UNIQUE = {"type": "expect_column_values_to_be_unique", "kwargs": {"column": "k"}}


def test_a_suite_as_great_expectations_writes_it():
    suite = {
        "name": "mine",
        "id": "0e4d",
        "expectations": [UNIQUE | {"severity": "warning", "notes": "so far", "meta": {"x": [{}]}, "id": "1"}],
        "meta": {"great_expectations_version": "1.24.1"},
    }
    [found] = read_expectations(json.dumps(suite))
    assert (found.type, found.columns, found.severity, found.note) == (UNIQUE["type"], ("k",), "warning", "so far")
    assert read_expectations(json.dumps(to_json([found]))) == (found,)


REFUSED = {
    "no JSON": ("{", "not JSON"),
    "too deep": ("[" * 100_000, "not JSON"),
    "no list": ({"expectations": {}}, "a list"),
    "too many": ([UNIQUE] * 201, "at most 200"),
    "no object": (["expect_column_to_exist"], "not an object"),
    "SQL": (
        {"type": "unexpected_rows_expectation", "kwargs": {"unexpected_rows_query": "SELECT * FROM secrets"}},
        "unexpected_rows_expectation",
    ),
    "another table": ({"type": "expect_table_row_count_to_equal_other_table", "kwargs": {}}, "other_table"),
    "no type": ({"kwargs": {"column": "k"}}, "None"),
    "a condition": (
        UNIQUE | {"kwargs": {"column": "k", "row_condition": "1 = 1", "condition_parser": "spark"}},
        "row_condition",
    ),
    "a parameter": (UNIQUE | {"kwargs": {"column": "k", "mostly": {"$PARAMETER": "m"}}}, "mostly"),
    "a nested value": (UNIQUE | {"kwargs": {"column": "k", "mostly": [[1]]}}, "mostly"),
    "no column": (UNIQUE | {"kwargs": {}}, "column"),
    "a column that is no text": (UNIQUE | {"kwargs": {"column": 1}}, "column"),
    "no columns": ({"type": "expect_compound_columns_to_be_unique", "kwargs": {"column_list": []}}, "columns"),
    "a severity": (UNIQUE | {"severity": "fatal"}, "fatal"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    given, word = REFUSED[name]
    text = (
        given
        if isinstance(given, str)
        else json.dumps(given if name in ("no list",) or isinstance(given, list) else [given])
    )
    with pytest.raises(DefinitionError, match=word):
        read_expectations(text)


def test_every_type_is_one_of_great_expectations_with_these_arguments():
    core = pytest.importorskip("great_expectations.expectations.core")
    for kind, (columns, others) in TYPES.items():
        fields = getattr(core, "".join(word.title() for word in kind.split("_"))).__fields__
        assert {*columns, *others} <= set(fields), kind


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("gold.a.json", "[]", None),
        ("totals.json", "[]", None),
        ("gold.b.json", "[]", "without a file"),
        ("gold.a.py", "raise SystemExit", "only imports, constants"),
        ("gold.a.py", "import great_expectations as gx\nexpectations = []", None),
        ("gold.a.yaml", "", ".json or .py"),
        ("gold.a.json", "{", "not JSON"),
    ],
)
def test_files(tmp_path, file, text, problem):
    view = parse_definition("CREATE MATERIALIZED VIEW gold.a AS SELECT k FROM t")
    object.__setattr__(view, "file", "totals.sql")
    (tmp_path / "expectations").mkdir()
    (tmp_path / "expectations" / file).write_text(text)
    if problem is None:
        assert read_folder(tmp_path, [view]) == {"gold.a": ()}
    else:
        with pytest.raises(DefinitionError, match=f"expectations/{file}.*{problem}"):
            read_folder(tmp_path, [view])


MODULE = """
'''What must hold.'''
import great_expectations as gx
from great_expectations.expectations import ExpectColumnPairValuesAToBeGreaterThanB

COUNTRIES = {"CH", "FR"}  # where we sell
expectations = [
    gx.expectations.ExpectColumnValuesToBeInSet(column="k", value_set=COUNTRIES, mostly=0.9, severity="warning", notes="so far"),
    ExpectColumnPairValuesAToBeGreaterThanB(column_A="a", column_B="b", or_equal=True),
    gx.expectations.ExpectTableRowCountToBeBetween(min_value=-1),
]
"""


def test_a_python_file_is_read_and_not_run():
    one, two, three = read_python(MODULE)
    assert sorted(one.kwargs.pop("value_set")) == ["CH", "FR"]
    assert (one.type, one.kwargs) == ("expect_column_values_to_be_in_set", {"column": "k", "mostly": 0.9})
    assert (one.severity, one.note) == ("warning", "so far")
    assert (two.type, two.columns) == ("expect_column_pair_values_a_to_be_greater_than_b", ("a", "b"))
    assert three.kwargs == {"min_value": -1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("expectations = [", "not Python"),
        ("x = 1", "no list `expectations`"),
        ("import os\nos.system('true')", "line 2"),
        ("x = open('/etc/passwd').read()\nexpectations = []", "read and not run"),
        ("expectations = [E(column=f'{1}')]", "read and not run"),
        ("expectations = [E(column=unknown)]", "read and not run"),
        ("expectations = [E('k')]", "named arguments"),
        ("expectations = [E(**{'column': 'k'})]", "without"),
        ("expectations = ['expect']", "a call"),
        (
            "expectations = [gx.expectations.UnexpectedRowsExpectation(unexpected_rows_query='SELECT 1')]",
            "unexpected_rows",
        ),
        ("expectations = [gx.expectations.ExpectColumnToExist(column='k', column_index=1)]", "column_index"),
        ("if True:\n    expectations = []", "only imports"),
        ("-" * 100_000 + "1", "not Python"),
    ],
)
def test_a_python_file_that_is_no_data_is_refused(text, problem):
    with pytest.raises(DefinitionError, match=problem):
        read_python(text)
