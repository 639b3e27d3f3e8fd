"""Views over one small schema, each with the strategy that its batches must have; data for the end-to-end tests."""

from __future__ import annotations

from dataclasses import dataclass

TABLES = {
    "fact": "id int, k int, g string, amount decimal(12,2), qty int, big bigint, price double, day date, at timestamp, local timestamp_ntz",
    "dim": "k int, name string, region string, rate decimal(6,3)",
    "other": "k int, label string, score int",
}


@dataclass(frozen=True)
class Case:
    name: str
    query: str
    strategy: str = "incremental"
    floats: bool = False  # columns that float aggregates make: compared after rounding

    def over(self, schema: str) -> str:
        """The query over the tables of a schema."""
        query = self.query
        for table in TABLES:
            for word in ("FROM", "JOIN"):
                query = query.replace(f"{word} {table}", f"{word} {schema}.{table}")
        return query


CASES = (
    Case("filter", "SELECT id, amount FROM fact WHERE amount > 10 AND g <> 'x'"),
    Case("project_expressions", "SELECT id, amount * 2 + qty AS total, upper(g) AS g, year(day) AS y FROM fact"),
    Case("bag_duplicates", "SELECT g, qty FROM fact"),
    Case("key_not_selected", "SELECT d.name, f.qty FROM fact f JOIN dim d ON f.k = d.k"),
    Case("inner_join", "SELECT f.id, f.amount, d.name FROM fact f JOIN dim d ON f.k = d.k WHERE d.region = 'eu'"),
    Case(
        "three_way_join", "SELECT f.id, d.name, o.label FROM fact f JOIN dim d ON f.k = d.k JOIN other o ON o.k = d.k"
    ),
    Case("theta_join", "SELECT f.id, o.label FROM fact f JOIN other o ON f.qty > o.score AND f.k <= o.k"),
    Case("cross_join", "SELECT d.name, o.label FROM dim d CROSS JOIN other o"),
    Case("self_join", "SELECT a.id AS a, b.id AS b FROM fact a JOIN fact b ON a.k = b.k AND a.id < b.id"),
    Case("null_safe_join", "SELECT f.id, d.name FROM fact f JOIN dim d ON f.k <=> d.k"),
    Case(
        "from_subquery",
        "SELECT t.name, t.n FROM (SELECT d.name, d.rate * 2 AS n FROM dim d WHERE d.rate > 1) t WHERE t.n < 8",
    ),
    Case(
        "cte_twice",
        "WITH c AS (SELECT k, id FROM fact WHERE qty > 2) SELECT a.id AS a, b.id AS b FROM c a JOIN c b ON a.k = b.k",
    ),
    Case(
        "union_all", "SELECT k, g AS t FROM fact UNION ALL SELECT k, name FROM dim UNION ALL SELECT k, label FROM other"
    ),
    Case(
        "values_join", "SELECT f.id, v.w FROM fact f JOIN (VALUES ('a', 1), ('b', 2), ('b', 3)) AS v(g, w) ON f.g = v.g"
    ),
    Case("distinct", "SELECT DISTINCT g, qty FROM fact"),
    Case("distinct_join", "SELECT DISTINCT d.region, f.g FROM fact f JOIN dim d ON f.k = d.k"),
    Case(
        "aggregates",
        "SELECT g, count(*) AS n, count(qty) AS nq, sum(qty) AS s, sum(amount) AS sa, avg(amount) AS aa, avg(qty) AS aq,"
        " min(day) AS lo, max(amount) AS hi FROM fact GROUP BY g",
    ),
    Case(
        "flags",
        "SELECT g, bool_or(qty > 3) AS some_many, bool_and(amount > 0) AS all_paid, count_if(qty = 1) AS ones,"
        " every(name = 'eu') FILTER (WHERE rate > 1) AS eu FROM fact f LEFT JOIN dim d ON f.k = d.k GROUP BY g",
        strategy="affected",
    ),
    Case("all_or_none", "SELECT bool_or(qty > 3) AS some_many, bool_and(amount > 0) AS all_paid FROM fact"),
    Case("sum_bigint", "SELECT g, sum(big) AS s, min(big) AS lo, max(big) AS hi FROM fact GROUP BY g"),
    Case(
        "aggregate_filter",
        "SELECT g, count(*) FILTER (WHERE qty > 2) AS n, sum(amount) FILTER (WHERE qty IS NULL) AS s FROM fact GROUP BY g",
    ),
    Case(
        "expressions_over_aggregates",
        "SELECT g, sum(amount) / count(*) AS per, sum(qty) * 100 + 1 AS pct, max(qty) - min(qty) AS spread FROM fact GROUP BY g",
    ),
    Case(
        "columns_without_alias",
        "SELECT g, count(*), sum(amount), round(sum(amount) / count(*), 2), max(qty) - min(qty) FROM fact GROUP BY g",
    ),
    Case(
        "rows_without_alias",
        "SELECT id + 1, coalesce(g, 'none'), nvl(qty, 0), lcase(g), CASE WHEN qty > 1 THEN 'x;y' END FROM fact",
    ),
    Case("having", "SELECT g, sum(qty) AS s FROM fact GROUP BY g HAVING sum(qty) > 6 AND count(*) < 9"),
    Case("group_key_not_selected", "SELECT sum(qty) AS s FROM fact GROUP BY g"),
    Case(
        "global_aggregate",
        "SELECT count(*) AS n, sum(amount) AS s, min(day) AS lo, avg(qty) AS a FROM fact WHERE qty > 1",
    ),
    Case(
        "case_in_sum",
        "SELECT k, sum(CASE WHEN g = 'a' THEN amount END) AS a, sum(CASE WHEN g = 'b' THEN 1 ELSE 0 END) AS b FROM fact GROUP BY k",
    ),
    Case(
        "join_aggregate",
        "SELECT d.region, year(f.day) AS y, sum(f.amount * (1 - d.rate)) AS net, count(*) AS n FROM fact f JOIN dim d ON f.k = d.k"
        " GROUP BY d.region, year(f.day)",
    ),
    Case(
        "join_minmax",
        "SELECT d.name, max(f.amount) AS hi, min(f.at) AS first, max(f.local) AS last FROM fact f JOIN dim d ON f.k = d.k GROUP BY d.name",
    ),
    Case("group_by_expression_ordinal", "SELECT qty % 3 AS m, count(*) AS n FROM fact GROUP BY 1"),
    Case("float_sum", "SELECT g, sum(price) AS s, avg(price) AS a FROM fact GROUP BY g", "affected", floats=True),
    Case("float_minmax", "SELECT g, min(price) AS lo, max(price) AS hi FROM fact GROUP BY g"),
    Case(
        "variance",
        "SELECT g, variance(qty) AS v, stddev(amount) AS sd, stddev_pop(qty) AS sp FROM fact GROUP BY g",
        "affected",
        floats=True,
    ),
    # Spark adds BIGINTs for an average in DOUBLE: 2^58 − 2^58 + 7 has two answers, by the order of the rows.
    Case("avg_bigint", "SELECT g, avg(big % 1000) AS a FROM fact GROUP BY g", "affected", floats=True),
    Case("count_distinct", "SELECT g, count(DISTINCT qty) AS n FROM fact GROUP BY g", "affected"),
    Case("left_join", "SELECT f.id, d.name FROM fact f LEFT JOIN dim d ON f.k = d.k", "affected"),
    Case(
        "left_join_matches",
        "SELECT d.k, d.name, count(f.id) AS n, sum(f.amount) AS total, sum(coalesce(f.qty, 0)) AS pieces, min(f.day) AS first"
        " FROM dim d LEFT JOIN fact f ON f.k = d.k AND f.qty > 1 GROUP BY d.k, d.name",
    ),
    Case(
        "left_join_of_nothing",
        "SELECT count(f.id) AS n, sum(coalesce(f.qty, 0)) AS pieces, sum(CASE WHEN f.id > 0 THEN 1 ELSE 0 END) AS many"
        " FROM dim d LEFT JOIN fact f ON f.k = d.k AND f.qty > 1000",
    ),
    Case("full_join", "SELECT f.id, d.name, d.k AS dk FROM fact f FULL JOIN dim d ON f.k = d.k", "affected"),
    Case(
        "exists",
        "SELECT d.name FROM dim d WHERE EXISTS (SELECT 1 FROM fact f WHERE f.k = d.k AND f.qty > 2)",
        "affected",
    ),
    Case("not_exists", "SELECT d.name FROM dim d WHERE NOT EXISTS (SELECT 1 FROM fact f WHERE f.k = d.k)", "affected"),
    Case("not_in", "SELECT d.name FROM dim d WHERE d.k NOT IN (SELECT k FROM other)", "affected"),
    Case(
        "window",
        "SELECT id, g, row_number() OVER (PARTITION BY g ORDER BY amount DESC, id) AS rn, sum(qty) OVER (PARTITION BY g) AS total FROM fact",
        "affected",
    ),
    Case(
        "nested_aggregate",
        "SELECT n, count(*) AS groups FROM (SELECT g, count(*) AS n FROM fact GROUP BY g) t GROUP BY n",
        "affected",
    ),
    Case(
        "scalar_subqueries",
        "SELECT f.id, (SELECT DISTINCT d.k FROM dim d WHERE d.k = f.k) AS dk, (SELECT k FROM other WHERE k = 1 GROUP BY k) AS one"
        " FROM fact f WHERE f.qty >= (SELECT DISTINCT score FROM other o WHERE o.score = f.qty)",
        "affected",
    ),
    Case(
        "below_average",
        "SELECT f.id, d.name FROM fact f JOIN dim d ON f.k = d.k WHERE d.region = 'eu'"
        " AND f.amount < (SELECT avg(b.amount) FROM fact b WHERE b.k = d.k)",
        "affected",
    ),
    Case(
        "recursion",
        "WITH RECURSIVE r(k, depth) AS (SELECT k, 0 FROM dim WHERE region = 'eu' UNION ALL SELECT o.score, depth + 1 FROM r"
        " JOIN other o ON o.k = r.k AND depth < 3) SELECT f.id, r.depth FROM fact f JOIN r ON r.k = f.k",
        "affected",
    ),
    Case(
        "recursion_grouped",
        "WITH RECURSIVE r(n) AS (SELECT qty FROM fact UNION ALL SELECT n - 1 FROM r WHERE n > 0)"
        " SELECT n, count(*) AS times FROM r GROUP BY n",
        "affected",
    ),
    Case("intersect", "SELECT k FROM fact INTERSECT SELECT k FROM dim", "affected"),
    Case("except_all", "SELECT k FROM fact EXCEPT ALL SELECT k FROM dim", "affected"),
    Case("top_groups", "SELECT g, sum(qty) AS s FROM fact GROUP BY g ORDER BY s DESC, g LIMIT 2"),
    Case("share_of_groups", "SELECT g, count(*) AS n, sum(count(*)) OVER () AS all FROM fact GROUP BY g"),
    Case("top_k", "SELECT id, amount FROM fact ORDER BY amount DESC, id LIMIT 3"),
    Case(
        "tumbling_window",
        "SELECT k, window.start AS s, count(*) AS n, sum(qty) AS q FROM fact GROUP BY k, window(at, '6 hours')",
    ),
    Case("sliding_window", "SELECT window(at, '5 hours', '2 hours', '30 minutes') AS w, id FROM fact"),
    Case("lambda", "SELECT id, transform(array(k, qty), id -> id + k) AS l FROM fact"),
    Case(
        "pivot",
        "SELECT * FROM (SELECT k, g, qty FROM fact) PIVOT (sum(qty) AS s, count(*) AS n FOR g IN ('a' AS a, NULL AS no, ''))",
    ),
    Case("unpivot", "SELECT * FROM (SELECT id, k, qty FROM fact) UNPIVOT (v FOR c IN (k, qty AS q))"),
    Case("stack", "SELECT id, s.* FROM fact LATERAL VIEW stack(2, 'k', k, 'qty', qty) s AS c, v"),
    Case(
        "lateral", "SELECT f.id, l.y FROM fact f, LATERAL (SELECT o.score + f.qty AS y FROM other o WHERE o.k = f.k) l"
    ),
    Case(
        "ordered_sets",
        "SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY qty DESC) AS p, mode() WITHIN GROUP (ORDER BY k) AS m,"
        " listagg(DISTINCT name) WITHIN GROUP (ORDER BY name) AS l FROM (SELECT g, qty, k, cast(qty AS string) AS name FROM fact) GROUP BY g",
        "affected",
    ),
)
