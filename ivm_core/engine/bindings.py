"""Give DataFrames the names that a job's SQL uses: unique temporary views, and the SQL rewritten to them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Bindings:
    """Names of relations in one scope of work; ``close`` drops the temporary views behind them.

    Two runs in one session never meet: every view's real name carries a prefix of its own.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self._prefix = f"__ivm_{uuid.uuid4().hex[:12]}_"
        self._views: dict[str, str] = {}

    def bind(self, name: str, frame: DataFrame) -> str:
        """Call the frame ``name``; returns the temporary view's own name."""
        # Numbered rather than spelled after the relation, whose name may hold any character.
        view = self._views.get(name) or f"{self._prefix}{len(self._views)}"
        frame.createOrReplaceTempView(view)
        self._views[name] = view
        return view

    def __contains__(self, name: str) -> bool:
        return name in self._views

    def view(self, name: str) -> str:
        """The temporary view's name behind a relation's."""
        return self._views[name]

    def frame(self, name: str) -> DataFrame:
        """The relation as a DataFrame."""
        return self.spark.table(self._views[name])

    def run(self, query: str | exp.Expr, names: Mapping[str, str] | None = None) -> DataFrame:
        """The result of a query over the relations, or over the ``names`` of temporary views where given."""
        tree = sqlglot.parse_one(query, read="spark") if isinstance(query, str) else query
        return self.spark.sql(rename_tables(tree, self._views if names is None else names).sql("spark"))

    def close(self) -> None:
        """Drop the temporary views."""
        for view in self._views.values():
            self.spark.catalog.dropTempView(view)
        self._views.clear()


def rename_tables(query: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    """Tables named like a key are read from its value instead, under their old name as alias; CTEs are left alone.

    >>> rename_tables(sqlglot.parse_one("WITH a AS (SELECT x FROM b) SELECT x FROM a"), {"a": "v1", "b": "v2"}).sql()
    'WITH a AS (SELECT x FROM v2 AS b) SELECT x FROM a'
    """
    lowered = {name.lower(): view for name, view in names.items()}
    copied = query.copy()
    for table in tables_of(copied):
        view = lowered.get(table.name.lower())
        if view is None or table.args.get("db"):
            continue
        if not table.alias:
            table.set("alias", exp.TableAlias(this=table.this.copy()))
        table.set("this", exp.to_identifier(view))
    return copied


def tables_of(query: exp.Expr) -> list[exp.Table]:
    """The nodes that name real tables, not CTEs, each once."""
    found: dict[int, exp.Table] = {}
    for scope in traverse_scope(query):
        for source in scope.sources.values():
            if isinstance(source, exp.Table):
                found[id(source)] = source
    return list(found.values())
