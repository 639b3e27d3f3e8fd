"""Functions that users made: what the session knows of those that a query calls, and which of them no view can keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from pyspark.errors import AnalysisException
from sqlglot import exp

from ivm_core.errors import NondeterministicError
from ivm_core.plan.clock import clock_column
from ivm_core.plan.determinism import check_determinism
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.scope import complaint, refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SPARKS_OWN = "org.apache.spark.sql.catalyst.expressions."
_SEES_MORE = (
    "{name}() {what}, so that a view would change without a change of its tables. Write its body into the query."
)

_AGGREGATE = "INVALID_WHERE_CONDITION"  # no aggregate may stand in WHERE
_CHANCE = "INVALID_NON_DETERMINISTIC_EXPRESSIONS"  # nothing that differs from run to run may stand in ON


def check_functions(spark: SparkSession, query: exp.Expr) -> None:
    """Raise for calls of users' functions whose value depends on more than a row, or is of many rows.

    NondeterministicError: SQL functions that read tables or tell the time, and functions of chance. UnsupportedConstruct:
    aggregate functions. Spark's own functions are the compiler's to check.
    """
    _check(spark, query, frozenset())


def _check(spark: SparkSession, query: exp.Expr, within: frozenset[str]) -> None:
    for call in query.find_all(exp.Anonymous):
        name = _name(call)
        if name.lower() in within:
            continue
        described = _describe(spark, name)
        if "Body" in described:
            _check_body(spark, call, name, described["Body"], within | {name.lower()})
        elif "Class" in described and not described["Class"].startswith(_SPARKS_OWN):
            _check_opaque(spark, call, name)


def _check_body(spark: SparkSession, call: exp.Anonymous, name: str, text: str, within: frozenset[str]) -> None:
    """A function written in SQL: what its body does."""
    body = sqlglot.parse_one(text, read=SparkAsWritten)
    if body.find(exp.Table):
        raise complaint(NondeterministicError, _SEES_MORE.format(name=name, what="reads tables"), call, name)
    if any(clock_column(node) for node in body.walk()):
        raise complaint(NondeterministicError, _SEES_MORE.format(name=name, what="tells the time"), call, name)
    try:
        check_determinism(body)
        _check(spark, body, within)
    except NondeterministicError as error:
        inner = error.construct or "a function"
        what = f"calls {inner}, which differs from run to run or place to place"
        raise complaint(NondeterministicError, _SEES_MORE.format(name=name, what=what), call, name) from None


def _check_opaque(spark: SparkSession, call: exp.Anonymous, name: str) -> None:
    """A function in Python or Java: what Spark's analysis gives away."""
    rows = exp.select("1").from_(_nulls("v"))
    holds = exp.Is(this=_over_nulls(call), expression=exp.null())
    if _objection(spark, rows.where(holds)) == _AGGREGATE:
        advice = "Name it in the view's property 'ivm.aggregate_functions'."
        raise refusal(f"the function {name}(), which aggregates and is not declared,", call, advice)
    if _objection(spark, rows.join(_nulls("w"), on=holds)) == _CHANCE:
        message = f"{name}() cannot be used in a view: it is registered as not deterministic."
        raise complaint(NondeterministicError, message, call, name)


def _nulls(alias: str) -> exp.Values:
    return exp.values([(None,)], alias=alias, columns=["a"])


def _over_nulls(call: exp.Anonymous) -> exp.Expr:
    """The call with a NULL for each argument, in columns: Spark may fold constants away."""
    probe = (call.parent if isinstance(call.parent, exp.Dot) else call).copy()
    inner = probe if isinstance(probe, exp.Anonymous) else probe.expression
    inner.set("expressions", [exp.column("a", table="v") for _ in call.expressions])
    return probe


def _objection(spark: SparkSession, query: exp.Select) -> str | None:
    """The condition by which Spark's analysis refuses a query."""
    try:
        _ = spark.sql(query.sql(dialect="spark")).schema
    except AnalysisException as error:
        condition: str | None = error.getCondition()
        return condition
    return None


def _name(call: exp.Anonymous) -> str:
    """The function's name as the query writes it, qualified where it is."""
    identifier = call.this if isinstance(call.this, exp.Identifier) else exp.to_identifier(call.this)
    qualifier = call.parent.this if isinstance(call.parent, exp.Dot) and call.parent.expression is call else None
    return (
        exp.Dot(this=qualifier.copy(), expression=identifier.copy()).sql("spark")
        if qualifier
        else identifier.sql("spark")
    )


def _describe(spark: SparkSession, name: str) -> dict[str, str]:
    """What DESCRIBE FUNCTION says, by heading; empty where there is no such function."""
    # sqlglot reads this statement, and writes it without its FUNCTION.
    statement = exp.Command(this="DESCRIBE", expression=exp.Literal.string(f"FUNCTION EXTENDED {name}"))
    try:
        rows = [str(row[0]) for row in spark.sql(statement.sql(dialect="spark")).collect()]
    except AnalysisException:
        return {}
    return {heading: value.strip() for heading, _, value in (row.partition(":") for row in rows)}
