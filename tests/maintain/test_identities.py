"""Identities that maintenance must keep whatever the query: how changes are cut into batches and commits does not matter."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from tests.bags import difference
from tests.maintain.database import check_views, create_views
from tests.sampling import one_in

pytestmark = pytest.mark.spark

QUERIES = {
    "rows": "SELECT f.id, f.g, d.name FROM {s}.f f JOIN {s}.d d ON f.k = d.k",
    "totals": "SELECT d.name, count(*) AS n, sum(f.v) AS total, max(f.v) AS hi FROM {s}.f f JOIN {s}.d d ON f.k = d.k GROUP BY d.name",
    "distinct_g": "SELECT DISTINCT g FROM {s}.f",
    "counted": "SELECT g, count(DISTINCT v) AS n FROM {s}.f GROUP BY g",
}
FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"


class Deployment:
    """The same two tables and four views under a schema of their own."""

    def __init__(self, spark, folder, schema: str, queries: dict[str, str] = QUERIES) -> None:
        self.spark, self.schema, self.queries = (
            spark,
            schema,
            {name: q.replace("{s}", schema) for name, q in queries.items()},
        )
        spark.sql(f"CREATE SCHEMA {schema}").collect()
        self.run(f"CREATE TABLE {{s}}.f (id int, k int, g string, v int) USING DELTA {FEED}")
        self.run(f"CREATE TABLE {{s}}.d (k int, name string) USING DELTA {FEED}")
        self.run(
            "INSERT INTO {s}.f VALUES (1, 1, 'a', 10), (2, 1, 'a', 20), (3, 2, 'b', 30), (4, NULL, NULL, NULL), (5, 3, 'c', 5)"
        )
        self.run("INSERT INTO {s}.d VALUES (1, 'x'), (2, 'y'), (2, 'y'), (NULL, 'z')")
        self.engine = Engine.open(spark=spark, catalog=f"sqlite:///{folder}/{schema}.db", warehouse=folder / schema)
        create_views(self.engine, schema, self.queries)

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement.replace("{s}", self.schema)).collect()

    def check(self) -> None:
        check_views(self.engine, self.schema, self.queries)

    def changed(self) -> set[str]:
        """The views for which a run finds something to do."""
        return {report.view for report in self.engine.maintain() if report.strategy != "noop"}

    def versions(self) -> dict[str, int]:
        return {view.view: self.engine.history(view.view, 1)[0].number for view in self.engine.status()}


FIRST = (
    "INSERT INTO {s}.f VALUES (6, 2, 'b', 40), (7, 1, 'a', 20)",
    "UPDATE {s}.f SET k = 2, g = 'b' WHERE id = 1",
    "DELETE FROM {s}.d WHERE k = 1",
)
SECOND = (
    "UPDATE {s}.f SET v = v - 15 WHERE g = 'b'",
    "INSERT INTO {s}.d VALUES (1, 'x'), (3, 'w')",
    "DELETE FROM {s}.f WHERE id IN (3, 6)",
)


def test_one_batch_equals_two(spark, tmp_path):
    whole, split = Deployment(spark, tmp_path, "whole"), Deployment(spark, tmp_path, "split")
    for deployment in (whole, split):
        deployment.run(*FIRST)
        if deployment is split:
            deployment.engine.maintain()
        deployment.run(*SECOND)
        deployment.engine.maintain()
        deployment.check()
    for name in QUERIES:
        assert not difference(whole.engine.read(f"whole.{name}"), split.engine.read(f"split.{name}"))


@pytest.mark.slow
def test_commits_may_be_cut_differently(spark, tmp_path):
    one, many = Deployment(spark, tmp_path, "one_commit"), Deployment(spark, tmp_path, "many_commits")
    one.run("INSERT INTO {s}.f VALUES (10, 1, 'n', 1), (11, 2, 'n', 2), (12, 2, 'n', 3)")
    many.run(
        "INSERT INTO {s}.f VALUES (12, 1, 'm', 9)",
        "INSERT INTO {s}.f VALUES (10, 1, 'n', 1), (11, 2, 'n', 2)",
        "UPDATE {s}.f SET k = 2, g = 'n', v = 3 WHERE id = 12",
    )
    for deployment in (one, many):
        deployment.engine.maintain()
        deployment.check()
    for name in QUERIES:
        assert not difference(one.engine.read(f"one_commit.{name}"), many.engine.read(f"many_commits.{name}"))


def test_a_change_and_its_inverse_restore_the_view_and_maintaining_twice_does_nothing(spark, tmp_path):
    deployment = Deployment(spark, tmp_path, "inverse")
    before = {name: deployment.engine.read(f"inverse.{name}").collect() for name in QUERIES}
    deployment.run(
        "UPDATE {s}.f SET v = v + 1", "INSERT INTO {s}.f VALUES (9, 2, 'q', 1)", "DELETE FROM {s}.d WHERE k = 2"
    )
    deployment.engine.maintain()
    deployment.check()
    deployment.run(
        "UPDATE {s}.f SET v = v - 1", "DELETE FROM {s}.f WHERE id = 9", "INSERT INTO {s}.d VALUES (2, 'y'), (2, 'y')"
    )
    deployment.engine.maintain()
    for name, rows in before.items():
        assert sorted(map(str, deployment.engine.read(f"inverse.{name}").collect())) == sorted(map(str, rows))
    numbers = deployment.versions()
    assert {report.strategy for report in deployment.engine.maintain()} == {"noop"}
    assert deployment.versions() == numbers


@pytest.mark.slow
def test_a_view_is_the_sum_of_its_three_parts(spark, tmp_path):
    parts = {"p": "f.v > 15", "not_p": "NOT f.v > 15", "unknown": "(f.v > 15) IS NULL"}
    select = "SELECT f.id, f.g, d.name FROM {s}.f f LEFT JOIN {s}.d d ON f.k = d.k"
    queries = {"whole": select} | {name: f"{select} WHERE {condition}" for name, condition in parts.items()}
    deployment = Deployment(spark, tmp_path, "tlp", queries)
    for batch in (FIRST, SECOND):
        deployment.run(*batch)
        deployment.engine.maintain()
        deployment.check()
        together = deployment.engine.read("tlp.p").unionAll(deployment.engine.read("tlp.not_p"))
        together = together.unionAll(deployment.engine.read("tlp.unknown"))
        assert not difference(deployment.engine.read("tlp.whole"), together)


ORDERS = ("incremental full incremental", "full auto full full incremental auto incremental full")


@pytest.mark.parametrize("order", one_in(2, ORDERS))
def test_strategies_mix_in_any_order(spark, tmp_path, order):
    deployment = Deployment(spark, tmp_path, f"mixed_{len(order)}")
    for step, policy in enumerate(order.split()):
        deployment.run(
            f"INSERT INTO {{s}}.f VALUES ({100 + step}, {step % 3}, 'g{step % 2}', {step})",
            f"UPDATE {{s}}.f SET v = coalesce(v, 0) + 1 WHERE id % 3 = {step % 3}",
            f"DELETE FROM {{s}}.f WHERE id = {97 + step}",
        )
        reports = deployment.engine.maintain(policy=policy)
        if policy == "full":
            assert {report.strategy for report in reports} == {"full"}
        deployment.check()


def test_a_view_whose_query_is_replaced_follows_the_new_query(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the manifest is written
    deployment = Deployment(spark, tmp_path, "replaced", {"totals": QUERIES["totals"]})
    deployment.run("INSERT INTO {s}.f VALUES (6, 2, 'b', 40)")
    deployment.engine.maintain()  # generates a job for this pattern of changes
    query = deployment.queries["totals"].replace("max(f.v) AS hi", "min(f.v) AS lo")
    (tmp_path / "sql" / "views").mkdir(parents=True)
    (tmp_path / "sql" / "views" / "totals.sql").write_text(
        f"CREATE INCREMENTAL MATERIALIZED VIEW replaced.totals "
        f"TBLPROPERTIES ('ivm.refresh_policy' = 'incremental') AS {query};\n"
    )
    assert [change.action for change in deployment.engine.apply(tmp_path / "sql")] == ["replace"]
    deployment.queries["totals"] = query
    deployment.run("INSERT INTO {s}.f VALUES (7, 2, 'b', -40)")
    (report,) = deployment.engine.maintain()
    assert report.strategy == "incremental"
    deployment.check()
