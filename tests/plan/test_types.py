"""Types by rule: what Spark's rules give, worked by hand; ``test_types_spark`` asks Spark itself."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.nodes import Aggregate, Changes, Generate, Named, Project, Scan, ScanColumn, UnionAll, column
from ivm_core.plan.schema import TableSchema, type_of, types_of
from ivm_core.plan.types import adjusted, common_type, parse_type, simple_string, typed
from tests.plan.expressions import AGGREGATES, COLUMNS, ROWWISE, WINDOWS

TYPES = dict(COLUMNS)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("p + 1", "decimal(16,2)"),
        ("p + i", "decimal(16,2)"),
        ("w + 1", "decimal(21,0)"),
        ("p % w", "decimal(15,2)"),
        ("w % r", "decimal(5,4)"),
        ("p * (1 - r) * (1 + r)", "decimal(29,10)"),
        ("q * q", "decimal(38,6)"),
        ("p / p", "decimal(33,18)"),
        ("0.05", "decimal(2,2)"),
        ("i / 2", "double"),
        ("CASE WHEN b THEN p ELSE 0 END", "decimal(15,2)"),
        ("CASE WHEN b THEN r ELSE 0 END", "decimal(14,4)"),
        ("sum(p)", "decimal(25,2)"),
        ("avg(p)", "decimal(19,6)"),
        ("sum(i)", "bigint"),
        ("avg(i)", "double"),
        ("try_sum(i)", "bigint"),
        ("try_sum(l)", None),
        ("try_sum(p)", "decimal(25,2)"),
        ("try_sum(q)", None),
        ("try_avg(p)", "decimal(19,6)"),
        ("st.y", "decimal(4,2)"),
        ("dt - INTERVAL '1 YEAR 2 MONTHS'", "date"),
        ("dt + INTERVAL '1 WEEK 2 DAYS'", "date"),
        ("dt - INTERVAL '1 DAY 2 HOURS'", None),
        ("dt - INTERVAL '1-2' YEAR TO MONTH", None),
        ("ts - INTERVAL '1 DAY 2 HOURS'", "timestamp"),
        ("unknown_function(i)", None),
        ("coalesce(s, i)", None),
    ],
)
def test_types_of_expressions(sql: str, expected: str | None) -> None:
    expression = sqlglot.parse_one(sql, dialect="spark")
    if sql == "st.y":
        expression = exp.Dot(this=column("st"), expression=exp.to_identifier("y"))
    assert type_of(expression, TYPES) == expected


@pytest.mark.parametrize(("sql", "expected"), [("log10(p)", "double"), ("to_date(s, 'yyyy-MM-dd')", "date")])
def test_types_of_functions_that_stay_as_they_are_written(sql: str, expected: str) -> None:
    assert type_of(sqlglot.parse_one(sql, dialect=SparkAsWritten), TYPES) == expected


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("int", "bigint"), "bigint"),
        (("void", "int"), "int"),
        ((), "void"),
        (("int", "string"), None),
        (("int", None), None),
        (("float", "int"), "double"),
        (("decimal(38,10)", "decimal(38,0)"), "decimal(38,0)"),
        (("date", "timestamp"), "timestamp"),
        (("array<int>", "array<int>"), "array<int>"),
        (("array<int>", "array<void>"), "array<int>"),
        (("array<array<int>>", "array<array<decimal(10,2)>>"), "array<array<decimal(12,2)>>"),
        (("array<int>", "array<string>"), None),
        (("array<int>", "int"), None),
    ],
)
def test_common_types(types: tuple[str | None, ...], expected: str | None) -> None:
    assert common_type(*types) == expected


def test_results_wider_than_38_digits_keep_six_of_the_fraction() -> None:
    assert adjusted(50, 20) == "decimal(38,8)"
    assert adjusted(60, 20) == "decimal(38,6)"
    assert adjusted(45, 2) == "decimal(38,2)"


@pytest.mark.parametrize("text", [kind for _, kind in COLUMNS])
def test_types_are_read_back(text: str) -> None:
    assert simple_string(exp.DataType.build(text, dialect="spark")) == text


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("struct<first-name:string,a b:int>", "STRUCT<`first-name`: STRING, `a b`: INT>"),
        ("array<struct<order:int,select:map<string,decimal(10,2)>,@x:date>>", "ARRAY<STRUCT<`order`: INT, `select`: MAP<STRING, DECIMAL(10, 2)>, `@x`: DATE>>"),
        ("struct<order:int,a:date>", "STRUCT<order: INT, a: DATE>"),
    ],
)  # fmt: skip
def test_fields_of_any_name_are_read(text: str, spelled: str) -> None:
    parsed = parse_type(text)
    assert parsed is not None
    assert (parsed.sql("spark"), simple_string(parsed)) == (spelled, text)


@pytest.mark.parametrize("text", ["struct<a:b:int>", "struct<a,b:int>", "array<void>", "void"])
def test_what_cannot_be_spelled_is_no_type(text: str) -> None:
    assert parse_type(text) is None
    assert typed(exp.null(), text) == exp.null()


def test_most_expressions_have_a_type() -> None:
    every = [*ROWWISE, *AGGREGATES, *WINDOWS]
    known = [sql for sql in every if type_of(_bare(sql), TYPES) is not None]
    assert len(known) > 0.8 * len(every)


def test_types_of_plans() -> None:
    scan = Scan("default.t", (ScanColumn("a", "a", "int"), ScanColumn("xs", "xs", "array<bigint>")))
    generate = Generate(scan, exp.Posexplode(this=column("xs")), ("pos", "x"))
    assert types_of(generate) == {"a": "int", "xs": "array<bigint>", "pos": "int", "x": "bigint"}
    grouped = Aggregate(generate, (Named("a", column("a")),), (Named("total", exp.Sum(this=column("x"))),))
    assert types_of(grouped) == {"a": "int", "total": "bigint"}
    union = UnionAll((Project(grouped, (Named("a", column("total")),)), Project(grouped, (Named("a", column("a")),))))
    assert types_of(union) == {"a": "bigint"}
    assert types_of(Changes("default.t", scan.columns))["__ivm_weight"] == "bigint"


def test_table_schemas_refuse_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="duplicate"):
        TableSchema("default.t", (("a", "int"), ("A", "int")))
    with pytest.raises(ValueError, match="no column b"):
        TableSchema("default.t", (("a", "int"),), primary_key=("b",))


def _bare(sql: str) -> exp.Expression:
    tree = sqlglot.parse_one(sql, dialect="spark")
    assert isinstance(tree, exp.Expression)
    return tree
