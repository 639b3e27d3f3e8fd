"""The other way: a view's query run whole by plain Spark into a table of its own, and the comparison with the view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from ivm_core.engine.bindings import tables_of
from ivm_core.plan.clock import spell_for_spark
from ivm_core.validate.bag_difference import bag_difference, count_difference

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "bench_full"
_FLOATING = ("double", "float")
_EXPECTED, _ACTUAL = "bench_expected", "bench_actual"


def full_name(view: str) -> str:
    """``tpch.q01`` → ``bench_full.tpch__q01``: the table that a full refresh writes."""
    return f"{SCHEMA}.{view.replace('.', '__')}"


def refresh_statement(view: str, query: exp.Expression, location: str, renamed: Mapping[str, str] | None = None) -> str:
    """CREATE OR REPLACE TABLE … AS the view's query: what somebody without this project would run.

    ``renamed``: tables that the query is to read under other names.
    """
    spelled = renaming(query, renamed or {})
    properties = [
        exp.FileFormatProperty(this=exp.Var(this="DELTA")),
        exp.LocationProperty(this=exp.Literal.string(location)),
    ]
    statement = exp.Create(
        this=exp.to_table(full_name(view)),
        kind="TABLE",
        replace=True,
        properties=exp.Properties(expressions=properties),
        expression=spelled,
    )
    return str(statement.sql("spark"))


def renaming(query: exp.Expression, renamed: Mapping[str, str]) -> exp.Expr:
    """The query as Spark spells it, with some of its tables under other names and the aliases that they had."""
    spelled = spell_for_spark(query)
    for table in tables_of(spelled):
        other = renamed.get(".".join(part.name for part in table.parts).lower())
        if other is None:
            continue
        if not table.alias:
            table.set("alias", exp.TableAlias(this=table.this.copy()))
        target = exp.to_table(other)
        for part in ("this", "db", "catalog"):
            table.set(part, target.args.get(part))
    return spelled


def same_rows(spark: SparkSession, expected: DataFrame, actual: DataFrame) -> bool:
    """Whether two relations hold the same rows as bags; sums of floating-point numbers up to a tolerance."""
    if expected.dtypes == actual.dtypes and _is_hashed_whole(actual) and _fingerprint(expected) == _fingerprint(actual):
        return True
    expected.createOrReplaceTempView(_EXPECTED)
    actual.createOrReplaceTempView(_ACTUAL)
    names = list(actual.columns)
    floating = [name for name, type_ in actual.dtypes if type_ in _FLOATING]
    return names == expected.columns and any(
        _no_difference(spark, names, approximate) for approximate in ([], *([floating] if floating else []))
    )


def _is_hashed_whole(relation: DataFrame) -> bool:
    """Whether Spark's hashes of a row leave nothing of it out, as they do of NULLs inside arrays and structs."""
    return not any("<" in type_ or type_ == "variant" for _, type_ in relation.dtypes)


def _fingerprint(relation: DataFrame) -> tuple[int, ...]:
    """The number of rows, and sums over two 64-bit hashes of each: one pass without a shuffle, where counting rows takes one.

    NULL does not change a hash, so which columns are NULL is hashed too. Each hash is summed in halves, which do not overflow.
    """
    columns = [f"`{name.replace('`', '``')}`" for name in relation.columns]
    nulls = [f"{column} IS NULL" for column in columns]
    hashes = (f"xxhash64({', '.join([*columns, *nulls])})", f"xxhash64(1, {', '.join([*nulls, *columns])})")
    halves = (half for each in hashes for half in (f"sum({each} >> 32)", f"sum({each} & 4294967295)"))
    return tuple(relation.selectExpr("count(*)", *halves).collect()[0])


def _no_difference(spark: SparkSession, names: list[str], approximate: list[str]) -> bool:
    difference = count_difference(bag_difference(_EXPECTED, _ACTUAL, names, approximate), _ACTUAL)
    found = spark.sql(difference.sql("spark")).collect()[0]
    return bool(found["missing"] == 0 and found["unexpected"] == 0)
