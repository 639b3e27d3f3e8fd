"""Give DataFrames the names that a job's SQL uses: unique temporary views, and the SQL rewritten to them."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from ivm_core.engine.on_demand import Made, made, made_once
from ivm_core.engine.queries import is_connect, select
from ivm_core.plan.dialect import SparkAsWritten

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Names:
    """Names of temporary views that runs after one another use again: dropping a view takes an answer of Spark.

    Two processes in one session never meet: every name carries a prefix of its own.
    """

    def __init__(self) -> None:
        self._prefix = f"__ivm_{uuid.uuid4().hex[:12]}_"
        self._counting = threading.Lock()
        self._count = 0
        self._free: list[str] = []
        self._used: set[str] = set()

    def take(self) -> str:
        """A name that nobody else uses now. Numbered: a relation's own name may hold any character."""
        with self._counting:
            if not self._free:
                self._count += 1
                return f"{self._prefix}{self._count}"
            return self._free.pop()

    def show(self, name: str, frame: DataFrame) -> None:
        """Make the frame the temporary view of a name that was taken."""
        frame.createOrReplaceTempView(name)
        self._used.add(name)

    def give_back(self, names: Iterable[str]) -> None:
        """Whoever takes the names next replaces the views."""
        self._free.extend(names)

    def drop(self, spark: SparkSession) -> None:
        """Drop the views whose names were given back."""
        for name in self._used.intersection(self._free):
            spark.catalog.dropTempView(name)
        self._used.difference_update(self._free)
        self._free.clear()


class Bindings:
    """Names of relations in one scope of work; ``close`` ends it.

    ``names``: where the temporary views' names come from and go back to; without, the views are dropped at the end.
    """

    def __init__(self, spark: SparkSession, names: Names | None = None) -> None:
        self.spark = spark
        self._names = names or Names()
        self._drops = names is None
        self._views: dict[str, str] = {}
        self._unnamed: dict[str, Made[DataFrame]] = {}  # bound, but no query has named them yet
        self._carried: set[str] = set()  # bound, and part of the queries that name them
        self._queries: dict[str, Made[exp.Expr]] = {}

    def define(self, name: str, query: Made[exp.Expr]) -> None:
        """Call a query's result ``name``: it becomes part of the queries that read it, so it should be read once.

        What is a function is called when the relation is first read; so it is in ``bind``.
        """
        self._queries[name] = query

    def bind(self, name: str, frame: Made[DataFrame], *, few: bool = False) -> None:
        """Call the frame ``name``: it becomes a temporary view when it is first read.

        ``few``: it has few rows, held by this process; over Connect they go along with the queries that read them.
        """
        if name not in self._views:
            self._views[name] = self._names.take()
        self._queries.pop(name, None)
        self._unnamed[name] = frame
        self._carried.discard(name)
        if few and is_connect(self.spark):
            self._carried.add(name)

    def __contains__(self, name: str) -> bool:
        return name in self._views

    def view(self, name: str) -> str:
        """The temporary view's name behind a relation's."""
        if name in self._queries:
            self.bind(name, self.run(made_once(self._queries, name)))
        frame = self._unnamed.pop(name, None)
        self._carried.discard(name)
        if frame is not None:
            self._names.show(self._views[name], made(frame))
        return self._views[name]

    def frame(self, name: str) -> DataFrame:
        """The relation as a DataFrame."""
        return self.run(made_once(self._queries, name)) if name in self._queries else self.spark.table(self.view(name))

    def run(self, query: str | exp.Expr, names: Mapping[str, str] | None = None) -> DataFrame:
        """The result of a query over the relations, or over the ``names`` of temporary views where given."""
        tree = sqlglot.parse_one(query, read=SparkAsWritten) if isinstance(query, str) else query
        if names is not None:
            return select(self.spark, rename_tables(tree, names).sql("spark"))
        along: dict[str, DataFrame] = {}
        written = self._with_queries(tree, along)
        return select(self.spark, written.sql("spark"), along)

    def close(self) -> None:
        """Let go of the names."""
        self._names.give_back(self._views.values())
        self._views.clear()
        self._unnamed.clear()
        self._carried.clear()
        self._queries.clear()
        if self._drops:
            self._names.drop(self.spark)

    def _with_queries(self, tree: exp.Expr, along: dict[str, DataFrame]) -> exp.Expr:
        """The query over temporary views, after CTEs of the defined ones that it reads; ``along`` receives the carried."""
        common: dict[str, exp.Expr] = {}
        written = self._written(tree, common, along)
        own = written.args.get("with_")
        if common:
            ctes = [exp.CTE(this=query, alias=exp.TableAlias(this=exp.to_identifier(n))) for n, query in common.items()]
            # Before the query's own: those may read them.
            recursive = own is not None and bool(own.args.get("recursive"))
            items = ctes + (own.expressions if own is not None else [])
            written.set("with_", exp.With(expressions=items, recursive=recursive))
        return written

    def _written(self, tree: exp.Expr, common: dict[str, exp.Expr], along: dict[str, DataFrame]) -> exp.Expr:
        """The query over names that Spark knows or finds in ``common``, which receives what it needs, in order."""
        read = {table.name.lower() for table in tables_of(tree)}
        bound = [name for name in self._views if name.lower() in read and name not in self._queries]
        names = {name: self._views[name] if name in self._carried else self.view(name) for name in bound}
        along.update({names[name]: made_once(self._unnamed, name) for name in bound if name in self._carried})
        for position, name in enumerate(self._queries):
            if name.lower() in read:
                names[name] = f"__ivm_common_{position}"
                if names[name] not in common:
                    common[names[name]] = self._written(made_once(self._queries, name), common, along)
        return rename_tables(tree, names)


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
