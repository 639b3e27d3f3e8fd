"""Values at the ends of their types, and types that have no equality of their own, through incremental batches."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from tests.bags import difference
from tests.maintain.database import create_views, follow, run, set_limits
from tests.sampling import one_in

pytestmark = pytest.mark.spark

FEED = "USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"


@pytest.fixture
def engine(spark, tmp_path):
    run(spark, "CREATE SCHEMA odd")
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as opened:
        yield opened
    run(spark, "DROP SCHEMA odd CASCADE")


def create_and_follow(engine, queries: dict[str, str], *statements: str) -> None:
    create_views(engine, "odd", queries)
    follow(engine, "odd", queries, *statements)


@pytest.mark.parametrize("zone", one_in(3, ["America/New_York", "Asia/Tokyo", "UTC"]))
def test_instants_at_the_ends_of_time(engine, spark, zone):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        run(
            spark,
            f"CREATE TABLE odd.dim (id int, valid_to timestamp) {FEED}",
            "INSERT INTO odd.dim VALUES (1, TIMESTAMP '9999-12-31 23:59:59'), (2, TIMESTAMP '0001-01-01 00:00:00'), "
            "(3, TIMESTAMP '2026-01-01 00:00:00'), (4, NULL), (5, TIMESTAMP '9999-12-31 23:59:59')",
        )
        queries = {
            "rows": "SELECT id, valid_to FROM odd.dim",
            "groups": "SELECT valid_to, count(*) AS n FROM odd.dim GROUP BY valid_to",
            "last": "SELECT id % 2 AS odd, max(valid_to) AS last FROM odd.dim GROUP BY id % 2",
            "pairs": "SELECT a.id, b.id AS other FROM odd.dim a JOIN odd.dim b ON a.valid_to = b.valid_to",
        }
        create_and_follow(
            engine,
            queries,
            "DELETE FROM odd.dim WHERE id = 1",
            "UPDATE odd.dim SET valid_to = TIMESTAMP '9999-12-31 00:00:00' WHERE id = 3",
            "INSERT INTO odd.dim VALUES (6, TIMESTAMP '0001-01-01 00:00:00')",
        )
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_days_that_old_calendars_skip(engine, spark):
    # With deletion vectors the changes are read by Delta, which once passed them through Java's old classes.
    run(
        spark,
        "CREATE TABLE odd.days (id int, day date, at timestamp) USING DELTA TBLPROPERTIES "
        "('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')",
        "INSERT INTO odd.days VALUES (0, DATE '1582-10-10', NULL), (1, DATE '2011-12-30', TIMESTAMP '1582-10-14 12:00:00')",
    )
    queries = {
        "rows": "SELECT id, day, unix_micros(at) AS at FROM odd.days",
        "groups": "SELECT day, count(*) AS n, max(at) AS last FROM odd.days GROUP BY day",
    }
    create_and_follow(
        engine,
        queries,
        "INSERT INTO odd.days VALUES (2, DATE '1582-10-05', TIMESTAMP '1582-10-10 12:00:00'), (3, DATE '1500-02-28', NULL)",
        "DELETE FROM odd.days WHERE id IN (0, 2)",
    )


@pytest.mark.slow
def test_negative_zero_can_be_told_from_zero(engine, spark):
    run(
        spark,
        f"CREATE TABLE odd.t (id int, x double, y float, l array<double>, m map<string, double>) {FEED}",
        "INSERT INTO odd.t SELECT id, x, y, array(x), map('b', x, 'a', 1D) FROM "
        "VALUES (1, -0.0D, -0.0F), (2, 0.0D, 0.0F), (3, 1.5D, 1.5F), (4, DOUBLE('NaN'), NULL) AS v(id, x, y)",
        f"CREATE TABLE odd.u (id int, z int) {FEED}",
        "INSERT INTO odd.u VALUES (2, 7)",
    )
    queries = {
        "left": "SELECT t.id, CAST(t.x AS STRING) AS x, u.z FROM odd.t t LEFT JOIN odd.u u ON u.id = t.id",
        "full": "SELECT t.id, CAST(array(t.x) AS STRING) AS x, u.z FROM odd.t t FULL JOIN odd.u u ON u.id = t.id",
        "some": "SELECT id, CAST(y AS STRING) AS y FROM odd.t t WHERE EXISTS (SELECT 1 FROM odd.u u WHERE u.id = t.id)",
        "none": "SELECT id, x, CAST(x AS STRING) AS text FROM odd.t WHERE id NOT IN (SELECT id FROM odd.u)",
        "beside": "SELECT id, CAST(x AS STRING) AS x, count(*) OVER (PARTITION BY y) AS n FROM odd.t",
        "texts": "SELECT id, CAST(x AS STRING) AS x, CAST(y AS STRING) AS y FROM odd.t",
        "groups": "SELECT x, count(*) AS n FROM odd.t GROUP BY x",
        "spelled": "SELECT CAST(x AS STRING) AS x, count(*) AS n FROM odd.t GROUP BY CAST(x AS STRING)",
        "nested": "SELECT id, CAST(l[0] AS STRING) AS x, to_json(m) AS j, map_keys(m) AS names FROM odd.t",
        "zeros": "SELECT s FROM VALUES ('-0.0'), ('0.0'), ('1.5') AS v(s) "
        "WHERE EXISTS (SELECT 1 FROM odd.t WHERE CAST(t.x AS STRING) = v.s AND t.id > 4)",
    }
    create_and_follow(
        engine,
        queries,
        "INSERT INTO odd.u VALUES (1, 5)",
        "INSERT INTO odd.t VALUES (5, -0.0D, 0.0F, array(-0.0D), map()), (6, 0.0D, -0.0F, array(0.0D), NULL)",
        "UPDATE odd.t SET x = -x, y = -y, l = array(-x), m = map('c', x, 'b', -x) WHERE id = 2",
        "DELETE FROM odd.t WHERE id = 1",
        "UPDATE odd.t SET x = abs(x) WHERE id IN (2, 3)",
        "DELETE FROM odd.t WHERE x = 0",
    )


@pytest.mark.parametrize("replace_rows", one_in(2, [0, 100_000]), ids=["merged", "rewritten"])
def test_a_group_that_is_computed_anew_shows_the_zero_that_it_has(engine, spark, replace_rows):
    set_limits(engine, replace_rows=replace_rows)
    run(
        spark,
        f"CREATE TABLE odd.z (k int, x double, d int) {FEED}",
        "INSERT INTO odd.z VALUES (1, -0.0D, 1), (1, 7D, 0), (2, 0.0D, 1)",
    )
    queries = {
        "last": "SELECT k, CAST(max_by(x, d) AS STRING) AS x FROM odd.z GROUP BY k",
        "all": "SELECT k, CAST(sort_array(collect_list(x)) AS STRING) AS x FROM odd.z GROUP BY k",
    }
    create_and_follow(
        engine,
        queries,
        "UPDATE odd.z SET x = 0.0D WHERE k = 1 AND d = 1",
        "UPDATE odd.z SET x = -0.0D WHERE d = 1",
    )


@pytest.mark.slow
def test_numbers_that_are_near_one_another_are_not_taken_for_one(engine, spark):
    run(
        spark,
        f"CREATE TABLE odd.readings (sensor string, ts double) {FEED}",
        "INSERT INTO odd.readings SELECT 'a', 1.7e9 + id / 1000 FROM range(6)",
        f"CREATE TABLE odd.facts (sensor string, f double) {FEED}",
        "INSERT INTO odd.facts VALUES ('a', 0.1D), ('a', 0.2D), ('a', 0.3D)",
    )
    queries = {
        "before": "SELECT sensor, ts, lag(ts) OVER (PARTITION BY sensor ORDER BY ts) AS prev FROM odd.readings",
        "beside": "SELECT r.ts, g.s FROM odd.readings r JOIN "
        "(SELECT sensor, sum(f) AS s FROM odd.facts GROUP BY sensor) g ON r.sensor = g.sensor",
    }
    create_and_follow(
        engine,
        queries,
        "DELETE FROM odd.readings WHERE ts IN (1.7e9 + 0.001D, 1.7e9 + 0.003D)",
        "UPDATE odd.readings SET ts = ts + 60 WHERE ts < 1.7e9 + 0.003D",
    )


@pytest.mark.slow
def test_variants_and_maps_are_carried_along(engine, spark):
    run(
        spark,
        f"CREATE TABLE odd.docs (id int, v variant, m map<string, int>) {FEED}",
        "INSERT INTO odd.docs SELECT id, parse_json(text), map('a', id) FROM "
        "VALUES (1, '{\"a\": 1}'), (2, '{\"a\": 2, \"b\": [1, 2.5, null]}'), (3, 'null'), (4, NULL) AS t(id, text)",
    )
    queries = {
        "fields": "SELECT id, variant_get(v, '$.a', 'int') AS a, m['a'] AS b FROM odd.docs",
        "sums": "SELECT variant_get(v, '$.a', 'int') AS a, count(*) AS n FROM odd.docs GROUP BY ALL",
        "paths": "SELECT id, v:a::int AS a, v:['b'].c[0]::string AS b FROM odd.docs WHERE v:a::int > 0 OR v:a IS NULL",
        "texts": "SELECT id, to_json(v) AS text, m FROM odd.docs",
        "parts": "SELECT id, v:a AS a FROM odd.docs WHERE v:a IS NOT NULL",
        "made": "SELECT id, parse_json(to_json(struct(id))) AS v, to_variant_object(struct(id)) AS o FROM odd.docs",
        "beside": "SELECT d.id, q.v FROM odd.docs d LEFT JOIN (SELECT id, try_parse_json(to_json(m)) AS v FROM odd.docs) q "
        "ON q.id = d.id + 1",
        "kinds": "SELECT map_filter(m, (k, n) -> n > 1) AS some, count(*) AS n, count(DISTINCT map_filter(m, (k, n) -> n > 5)) AS d "
        "FROM odd.docs GROUP BY 1",
    }
    create_and_follow(
        engine,
        queries,
        "INSERT INTO odd.docs SELECT 5, parse_json('{\"a\": 5}'), map('a', 5, 'b', 6)",
        "UPDATE odd.docs SET v = parse_json('{\"a\": 7}') WHERE id = 2",
        "DELETE FROM odd.docs WHERE id IN (1, 3)",
        "UPDATE odd.docs SET m = map('a', 1) WHERE id = 4",
    )


@pytest.fixture
def documents(spark, engine):
    """Rows with variants and maps, some of them twice."""
    run(
        spark,
        f"CREATE TABLE odd.docs (id int, v variant, m map<string, int>, l array<struct<v variant, m map<int, double>>>) {FEED}",
        "INSERT INTO odd.docs SELECT id, parse_json(text), m, array(named_struct('v', parse_json(text), 'm', map(id, 0.5D))) "
        """FROM VALUES (1, '{"a": 1, "b": null}', map('x', 1, 'y', 2)), (1, '{"b": null, "a": 1}', map('y', 2, 'x', 1)), """
        """(2, '[1, "2026-01-01", 2.5]', map()), (3, 'null', NULL), (4, NULL, map('x', NULL)), (5, '"2026-01-01"', map('x', 1)) """
        "AS t(id, text, m)",
        "INSERT INTO odd.docs SELECT id, v, m, l FROM odd.docs WHERE id < 4",
    )
    return (
        "DELETE FROM odd.docs WHERE id = 3",
        "INSERT INTO odd.docs SELECT id, v, map_from_entries(reverse(map_entries(m))), l FROM odd.docs WHERE id = 1",
        # Another type under the same JSON is another value.
        "UPDATE odd.docs SET v = variant_get(to_variant_object(named_struct('d', DATE '2026-01-01')), '$.d', 'variant') WHERE id = 5",
        "UPDATE odd.docs SET v = parse_json('[7]'), m = map_concat(coalesce(m, map()), map('z', id)) WHERE id IN (1, 4)",
        "INSERT OVERWRITE odd.docs SELECT id, v, m, l FROM odd.docs WHERE id <> 1",
    )


@pytest.mark.parametrize(
    ("replace_rows", "batches"),
    [
        pytest.param(100_000, slice(0, None, 2), id="rewritten-half", marks=pytest.mark.slow),
        pytest.param(0, slice(1, None, 2), id="merged-half"),
        pytest.param(100_000, slice(None), id="rewritten-all", marks=pytest.mark.slow),
        pytest.param(0, slice(None), id="merged-all", marks=pytest.mark.slow),
    ],
)
def test_rows_with_variants_and_maps_are_told_apart(engine, spark, documents, replace_rows, batches):
    set_limits(engine, replace_rows=replace_rows)
    queries = {
        "shown": "SELECT id, v, m, l FROM odd.docs WHERE id < 10",
        "joined": "SELECT d.id, d.v, e.m FROM odd.docs d LEFT JOIN odd.docs e ON d.id = e.id + 1",
        "both": "SELECT v, m FROM odd.docs UNION ALL SELECT v, NULL FROM odd.docs WHERE v IS NOT NULL",
        "spread": "SELECT d.id, e.v, e.m FROM odd.docs d LATERAL VIEW OUTER inline(l) e",
    }
    create_and_follow(engine, queries, *documents[batches])
    for name, query in queries.items():
        assert engine.repair(f"odd.{name}").error is None
        assert not difference(engine.read(f"odd.{name}"), spark.sql(query)), name


def test_conditions_over_fields_of_variants_and_maps(engine, spark, documents):
    queries = {
        "linked": "SELECT d.id, d.v FROM odd.docs d WHERE EXISTS (SELECT 1 FROM odd.docs e WHERE e.m['x'] = d.id)",
        "matched": "SELECT d.id, d.v, e.m FROM odd.docs d LEFT JOIN odd.docs e ON e.m['x'] = d.id",
        "either": "SELECT d.id, e.v FROM odd.docs d FULL JOIN odd.docs e "
        "ON d.id = coalesce(e.m['y'], 0) + variant_get(e.v, '$.a', 'int') AND d.m['x'] > e.id",
        "none": "SELECT id, m FROM odd.docs WHERE id NOT IN (SELECT m['x'] FROM odd.docs WHERE m['x'] IS NOT NULL)",
        "filtered": "SELECT d.id, d.v FROM odd.docs d WHERE NOT EXISTS "
        "(SELECT 1 FROM odd.docs e WHERE exists(map_values(d.m), x -> x = e.id + coalesce(e.m['x'], 1)) AND size(e.m) < 3)",
        "ranked": "SELECT id, lag(v) OVER (PARTITION BY id % 2 ORDER BY id, to_json(v), to_json(m)) AS before, m FROM odd.docs",
    }
    create_and_follow(engine, queries, *documents[:4])


def test_maps_are_keys_of_groups(engine, spark, documents):
    queries = {
        "groups": "SELECT m, count(*) AS n, sum(id) AS total FROM odd.docs GROUP BY m",
        "texts": "SELECT to_json(m) AS m, max(id) AS last FROM odd.docs GROUP BY m HAVING count(*) > 1",
        "rolled": "SELECT m, id, count(*) AS n, grouping(m) AS g FROM odd.docs GROUP BY ROLLUP (m, id)",
        "lists": "SELECT array(m) AS m, struct(m AS m, id AS i) AS s, collect_list(id) AS ids FROM odd.docs GROUP BY 1, 2",
        "distinct": "SELECT id % 2 AS odd, count(DISTINCT m) AS n FROM odd.docs GROUP BY id % 2",
    }
    create_and_follow(engine, queries, *documents)


def test_validation_sees_variants(engine, spark, documents):
    engine.create("CREATE INCREMENTAL MATERIALIZED VIEW odd.kept AS SELECT id, v FROM odd.docs")
    location = engine.status("odd.kept")[0].location
    assert engine.validate("odd.kept").ok
    run(spark, f"UPDATE delta.`{location}` SET v = parse_json('[2]') WHERE id = 5")
    found = engine.validate("odd.kept")
    assert (found.ok, found.missing_count, found.unexpected_count) == (False, 1, 1)


def test_a_missing_struct_of_fields_that_are_never_null(engine, spark):
    run(
        spark,
        f"CREATE TABLE odd.facts (g int, v int) {FEED}",
        "INSERT INTO odd.facts VALUES (1, 1), (1, 1), (2, 3), (2, 4)",
    )
    struct = "named_struct('v', v, 'text', '')"
    queries = {
        "rows": f"SELECT g, CASE WHEN v > 1 THEN {struct} END AS s FROM odd.facts",
        "cube": f"SELECT g, v, CASE WHEN count(DISTINCT {struct}) = 1 THEN mode({struct}) END AS s FROM odd.facts GROUP BY CUBE (g, v)",
    }
    create_and_follow(
        engine, queries, "INSERT INTO odd.facts VALUES (1, 2), (3, 3)", "DELETE FROM odd.facts WHERE v = 4"
    )


def test_lists_that_are_put_together_again(engine, spark):
    run(
        spark,
        f"CREATE TABLE odd.settings (owner int, name string, value int) {FEED}",
        "INSERT INTO odd.settings VALUES (1, 'z', 1), (1, 'a', 2), (1, 'm', 3), (2, 'z', 9), (2, 'b', NULL), (NULL, 'a', 5)",
    )
    queries = {
        "maps": "SELECT owner, map_from_arrays(collect_list(name), collect_list(coalesce(value, 0))) AS m FROM odd.settings GROUP BY owner",
        "whole": "SELECT map_from_arrays(collect_list(concat(owner, name)), collect_list(value)) AS m FROM odd.settings "
        "WHERE owner IS NOT NULL AND value IS NOT NULL",
    }
    create_and_follow(
        engine,
        queries,
        "INSERT INTO odd.settings VALUES (1, 'b', 0), (3, 'y', 1), (3, 'x', 2)",
        "UPDATE odd.settings SET value = 10 - value WHERE owner = 1",
        "DELETE FROM odd.settings WHERE name = 'z'",
    )
