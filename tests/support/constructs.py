"""The constructs that views may use: one example of each, over the tables of ``tests.plan.queries``."""

from __future__ import annotations

from dataclasses import dataclass

from ivm_core.cost.model import Strategy

INCREMENTAL, AFFECTED = Strategy.INCREMENTAL, Strategy.AFFECTED


@dataclass(frozen=True)
class Construct:
    """A line of the page: what it is, an example, and the strategy of a batch in which every table changed."""

    name: str
    sql: str
    strategy: Strategy


CONSTRUCTS = (
    Construct("filter", "select a, s from t where b > 1 and s like 'x%'", INCREMENTAL),
    Construct(
        "computed columns",
        "select a + b as p, coalesce(s, '-') as q, case when a > 1 then 1 end as r from t",
        INCREMENTAL,
    ),
    Construct("lateral column alias", "select a + b as p, p * 2 as q from t", INCREMENTAL),
    Construct("VALUES", "select v.i, v.j from values (1, 'x'), (2, 'z') as v(i, j)", INCREMENTAL),
    Construct("inner join", "select t.a, u.k from t join u on t.a = u.a", INCREMENTAL),
    Construct(
        "join of several tables", "select t.s, u.k, w.y from t join u on t.a = u.a join w on u.k = w.k", INCREMENTAL
    ),
    Construct("self join", "select x.a, y.b from t as x join t as y on x.a = y.b", INCREMENTAL),
    Construct("cross join", "select t.s, w.z from t cross join w", INCREMENTAL),
    Construct("join by inequality", "select t.a, u.k from t join u on t.a < u.a", INCREMENTAL),
    Construct("NATURAL and USING joins", "select a, t.s, u.k from t join u using (a)", INCREMENTAL),
    Construct("left join", "select t.a, u.k from t left join u on t.a = u.a", AFFECTED),
    Construct("right join", "select t.a, u.k from t right join u on t.a = u.a", AFFECTED),
    Construct("full join", "select t.a, u.k from t full join u on t.a = u.a", AFFECTED),
    Construct(
        "outer join that a filter makes inner",
        "select t.a, u.k from t left join u on t.a = u.a where u.k > 1",
        INCREMENTAL,
    ),
    Construct("EXISTS", "select a, s from t where exists (select 1 from u where u.a = t.a)", AFFECTED),
    Construct("NOT EXISTS", "select a, s from t where not exists (select 1 from u where u.a = t.a)", AFFECTED),
    Construct("IN (subquery)", "select a, s from t where a in (select a from u)", AFFECTED),
    Construct("NOT IN (subquery)", "select a, s from t where a not in (select a from u)", AFFECTED),
    Construct("scalar subquery", "select a, (select max(k) from u) as m from t", AFFECTED),
    Construct("correlated scalar subquery", "select a, (select sum(u.x) from u where u.a = t.a) as m from t", AFFECTED),
    Construct(
        "WITH",
        "with big as (select a, b from t where b > 1) select big.a, u.k from big join u on big.a = u.a",
        INCREMENTAL,
    ),
    Construct(
        "WITH RECURSIVE",
        "with recursive r as (select k, 1 as depth from w where k = 1 union all select r.k, depth + 1 from r where depth < 3) select k, depth from r",
        AFFECTED,
    ),
    Construct("UNION ALL", "select a, s from t union all select k, z from w", INCREMENTAL),
    Construct("UNION", "select a from t union select a from u", INCREMENTAL),
    Construct("INTERSECT", "select a from t intersect select a from u", AFFECTED),
    Construct("EXCEPT ALL", "select a from t except all select a from u", AFFECTED),
    Construct("DISTINCT", "select distinct a, s from t", INCREMENTAL),
    Construct(
        "count, sum, avg of exact types",
        "select s, count(*) as n, sum(c) as total, avg(c) as mean from t group by s",
        INCREMENTAL,
    ),
    Construct("min, max", "select s, min(a) as low, max(b) as high from t group by s", INCREMENTAL),
    Construct("FILTER", "select s, count(*) filter (where a > 1) as n from t group by s", INCREMENTAL),
    Construct("HAVING", "select s, count(*) as n from t group by s having count(*) > 1", INCREMENTAL),
    Construct("aggregate without GROUP BY", "select count(*) as n, sum(c) as total from t", INCREMENTAL),
    Construct("avg of an integer", "select s, avg(a) as mean from t group by s", INCREMENTAL),
    Construct("count(DISTINCT)", "select s, count(distinct a) as n from t group by s", AFFECTED),
    Construct(
        "aggregate over an aggregate",
        "select m, count(*) as n from (select s, max(a) as m from t group by s) group by m",
        AFFECTED,
    ),
    Construct("ROLLUP", "select s, b, sum(c) as total from t group by rollup (s, b)", AFFECTED),
    Construct("GROUPING SETS", "select s, b, count(*) as n from t group by grouping sets ((s), (b), ())", AFFECTED),
    Construct("window over a partition", "select a, rank() over (partition by s order by b) as r from t", AFFECTED),
    Construct(
        "window over groups",
        "select s, sum(c) as total, rank() over (order by sum(c) desc) as r from t group by s",
        INCREMENTAL,
    ),
    Construct("ORDER BY with LIMIT", "select a, b, s from t order by a, b, s limit 3", AFFECTED),
    Construct(
        "ORDER BY with LIMIT over groups",
        "select s, sum(b) as total from t group by s order by total, s limit 2",
        INCREMENTAL,
    ),
    Construct("explode", "select a, e from t lateral view explode(array(a, b)) g as e", INCREMENTAL),
    Construct(
        "PIVOT", "select * from (select a, s, b from t) pivot (sum(b) for s in ('x' as x, 'z' as z))", INCREMENTAL
    ),
    Construct(
        "current_date() in a filter", "select a, d from t where d >= current_date() - interval 7 days", INCREMENTAL
    ),
)
