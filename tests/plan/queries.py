"""Queries for every construct that a view may use, over three small tables; each has one right result.

``SPARK_ONLY`` holds those that DuckDB cannot run as they are, ``CLOCK`` those whose result depends on the time too.
"""

from __future__ import annotations

from ivm_core.plan.schema import TableSchema

TABLES = {
    schema.name: schema
    for schema in (
        TableSchema(
            "shop.t",
            (
                ("a", "int"),
                ("b", "int"),
                ("c", "decimal(15,2)"),
                ("s", "string"),
                ("d", "date"),
                ("n", "bigint"),
            ),
        ),
        TableSchema("shop.u", (("a", "int"), ("k", "int"), ("x", "decimal(10,2)"))),
        TableSchema("shop.w", (("k", "int"), ("y", "int"), ("z", "string"))),
    )
}

ROWS = """
select a, b from t where b > 1 and s like 'x%'
select A, t.B from T
select * from t
select t.*, k from t join u on t.a = u.a
select * except (s, d) from t
select a + 1 as p, a * b as q, -a as r, c / 3 as v from t
select a + b as p, p * 2 as q, q - p as r from t
select a, b as a2, a as a3 from t
select case when a > 1 then s when b is null then 'none' end as m, coalesce(s, 'y') as n from t
select 1 as one, 'x' as two
select * from values (1, 'x'), (2, null), (2, 'z') as v(i, j) where i > 1
select v.i, t.b from values (1), (2), (null) as v(i) join t on t.a = v.i
select count(1) as c1, a % 2 as par from t group by a % 2
select s || '-' || s as ss, upper(s) as up, length(s) as le from t
select a from t where d >= date '2024-01-02' and d < date '2024-01-01' + interval '1' month
select year(d) as y, month(d) as m, count(*) as n from t group by year(d), month(d)
""".strip().splitlines()

JOINS = """
select t.a, u.x from t join u on t.a = u.a
select t.a, u.x from t, u where t.a = u.a and t.b > 1
select t.a, u.x, w.z from t, u, w where t.a = u.a and w.k = u.k
select t.a, u.x, w.z from t, w, u where t.a = u.a and w.k = u.k
select t.a, u.k from t cross join u
select t.a, u.k from t join u on t.a < u.a
select t.a, u.k from t join u on t.a < u.a and t.b = u.k
select l.a, r.b from t l join t r on l.a = r.b
select l.a, r.b from t as l, t as r where l.a = r.a and l.b < r.b
select t.a, u.x from t left join u on t.a = u.a
select t.a, u.x from t left join u on t.a = u.a and u.k > 1
select t.a, u.x from t left join u on t.a = u.a where u.k > 1
select t.a, u.x from t left join u on t.a = u.a where u.k > 1 or u.k is null
select t.a, u.x from t left join u on t.a = u.a and t.b > 1
select t.a, u.x from t right join u on t.a = u.a
select t.a, u.x from t right join u on t.a = u.a where t.b > 1
select t.a, u.x from t full join u on t.a = u.a
select t.a, u.x from t full join u on t.a = u.a where t.b = 1
select t.a, u.x from t full join u on t.a = u.a and t.b = u.k
select t.a, u.k, w.z from t left join u on t.a = u.a left join w on u.k = w.k
select t.a, u.k, w.z from t left join (u join w on u.k = w.k) on t.a = u.a
select t.a, u.k, w.z from t, u left join w on u.k = w.k where t.a = u.a
select q.a, q.z from (select * from (select t.a, w.z from t join w on t.b = w.k)) q
select t.a, u.k, w.z from t cross join u full join w on u.k = w.k
select t.a, u.k, w.z from t, u right join w on u.k = w.k
select t.a, u.k, w.z from t, u join w on t.b = w.k
select a, b, x from t join u using (a)
select a, b, x, t.a as ta, u.a as ua from t left join u using (a)
select a, b, x from t right join u using (a)
select a, b, x, t.a as ta, u.a as ua from t full join u using (a)
select a, z from t join u using (a) join w using (k)
select a, b from t left semi join u on t.a = u.a
select a, b from t left anti join u on t.a = u.a and u.k > 1
select a, b from t left semi join u using (a)
select a, b from t left anti join u on t.a > u.a
""".strip().splitlines()

GROUPS = """
select a, sum(c) as total, count(*) as n from t group by a
select a, sum(c) as total from t group by 1
select a + 1 as g, sum(c) as total from t group by g
select a + 1 as g, sum(c) as total from t group by 1
select a + 1 as g, sum(c) + 1 as total from t group by a + 1
select a, b, sum(c) as total from t group by all
select sum(c) as total, count(*) as n, min(a) as lo, max(s) as hi, avg(c) as av from t
select sum(c) as total, count(*) as n from t where a > 100
select a, sum(c) filter (where b > 1) as total, count(*) filter (where s is null) as n from t group by a
select count(distinct a) as n, count(distinct a, b) as m, sum(distinct a) as o from t
select count(distinct a) filter (where b > 1) as n from t
select a, sum(c) / count(*) as mean, max(c) - min(c) as span from t group by a
select a, sum(c) as total from t group by a having sum(c) > 3
select a, sum(c) as total from t group by a having count(*) > 1 and max(b) is not null
select a, sum(c) as total from t group by a having total > 3
select a, sum(c) as c from t group by a having sum(c) > 3
select sum(c) as total from t having count(*) > 2
select a from t group by a
select a, b from t group by b, a having a > b
select distinct a, b from t
select distinct a % 2 as p from t where b > 0
select count(*) as n from (select distinct a, b from t) q
select q.a, q.total from (select a, sum(c) as total from t group by a) q where q.total > 2 and q.a > 1
select q.a, u.x from (select a, max(b) as b from t group by a) q join u on q.b = u.k
with q as (select a, sum(c) as total from t group by a) select q.a, r.total from q join q r on q.a = r.a + 1
with q(g, n) as (select b, count(*) from t group by b), r as (select max(n) as n from q) select q.g from q join r on q.n = r.n
select max(n) as n from (select a, count(*) as n from t group by a) q
select case when a > 1 then 'x' else 'y' end as z, count(*) as n from t group by case when a > 1 then 'x' else 'y' end
select 2 * a as twice, sum(a) as total from t group by a
select a, min(d) as lo, max(d) as hi, bool_and(b > 1) as ba, bool_or(b > 1) as bo from t group by a
select a, count_if(b > 1) as n from t group by a
select sum(n) as total from t
""".strip().splitlines()

SUBQUERIES = """
select a from t where exists (select 1 from u where u.a = t.a)
select a from t where exists (select * from u where u.a = t.a and u.x > t.c)
select a from t where not exists (select 1 from u where u.a = t.a)
select a from t where exists (select 1 from u where x > 100)
select a from t where not exists (select 1 from u)
select a from t where exists (select 1 from u where u.a < t.a)
select a from t where exists (select distinct k from u where u.a = t.a order by k limit 5)
select a from t where a in (select a from u)
select a from t where a in (select k from u where u.a = t.b)
select a from t where a not in (select k from u)
select a from t where a not in (select k from u where k is not null)
select a from t where a not in (select k from u where u.x = t.c)
select a from t where (a, b) in (select a, k from u)
select a from t where a in (select k from u) or b = 1
select a from t where a not in (select k from u) or b = 1
select a from t where not (a in (select k from u) and b = 1)
select a from t where exists (select 1 from u where u.a = t.a) or b = 1
select a, exists (select 1 from u where u.a = t.a) as found from t
select a, case when a in (select k from u) then 'in' else 'out' end as m from t
select a from t where a in (select a from u where k in (select k from w))
select a from t where a in (select k from u group by k having count(*) > 1)
select a from t where b > (select avg(k) from u)
select a from t where b > (select avg(k) from u where u.a = t.a)
select a, (select max(x) from u where u.a = t.a) as m from t
select a, (select count(*) from u where u.a = t.a) as m from t
select a, (select count(*) + 1 from u where u.a = t.a) as m from t
select a, (select sum(x) + count(*) from u where u.a = t.a and u.k > 1) as m from t
select a, (select max(x) from u where u.a = t.a and u.k = t.b) as m from t
select a from t where (select count(*) from u where u.a = t.a) = 0
select a, (select max(x) from u) - (select min(x) from u) as span from t
select a, sum(c) as total from t group by a having sum(c) > (select avg(x) from u)
select a, sum(c) as total from t group by a having exists (select 1 from u where u.a = t.a)
select a, sum(c) + (select max(x) from u where u.a = t.a) as total from t group by a
select sum((select max(x) from u where u.a = t.a)) as total from t
select a from t where b in (select max(k) from u where u.a = t.a)
select a from t where exists (select max(k) from u where u.a = t.a)
select a, (select x from u order by x desc, k, a limit 1) as m from t
select a, (select count(*) from u where u.a < t.a) as m from t
select a, (select max(x) from u where u.a = t.a and u.k < t.b) as m from t
select a from t where b > (select avg(k) from u where u.a <> t.a and u.x > t.c)
select a, (select x from u where u.a = t.a order by x desc, k limit 1) as m from t
select a from t where b in (select k from u where u.a = t.a order by k desc, x limit 2)
select a from t join u using (a) where exists (select 1 from w where w.k = u.k and w.y > t.b)
select a from t where coalesce((select min(y) from w where w.k = t.b), 0) = 0
""".strip().splitlines()

SETS = """
select a from t union all select k from u
select a, b from t union select a, k from u
select a from t intersect select k from u
select a from t intersect all select k from u
select a from t except select k from u
select a from t except all select k from u
select a from t union all select k from u union all select y from w
(select a from t union select k from u) except select y from w
select a, count(*) as n from (select a from t union all select k from u) q group by a
select a from (select a, b from t union all select k, a from u) q where b > 1
select c as v from t union all select x from u
select a from t where b > 1 union all select a from t where b <= 1 or b is null
""".strip().splitlines()

WINDOWS = """
select a, b, row_number() over (partition by a order by b, c, s, d, n) as rn from t
select a, b, rank() over (partition by a order by b) as rk, dense_rank() over (order by b) as dr from t
select a, sum(c) over (partition by a) as total, count(*) over () as n from t
select a, b, sum(b) over (partition by a order by b) as running from t
select a, sum(sum(c)) over (order by a) as running from t group by a
select a, rank() over (order by sum(c) desc) as rk from t group by a
select a, b from t qualify row_number() over (partition by a order by b, c, s, d, n) = 1
select a, b, row_number() over (partition by a order by b, c, s, d, n) as rn from t qualify rn <= 2
select a, max(b) over w as hi, min(b) over w as lo from t window w as (partition by a)
select a, c - avg(c) over (partition by a) as off from t
select q.a, q.rk from (select a, b, rank() over (partition by a order by b) as rk from t) q where q.rk = 1 and q.a > 1
select a, lag(b) over (partition by a order by b, c, s, d, n) as prev from t
select a, count(*) filter (where b > 1) over (partition by a) as n from t
""".strip().splitlines()

LIMITS = """
select a, b from t order by a, b desc, c, s, d, n limit 3
select distinct a, b from t order by b desc nulls last, a limit 4
select a, sum(c) as total from t group by a order by total desc, a limit 2
select a, sum(c) as total from t group by a order by count(*) desc, a limit 2 offset 1
select a from (select a, b from t order by b, a limit 3) q where a > 1
select a from t union all select k from u order by 1 limit 4
select a, b from t order by 2, 1 limit 3
select a from t order by a
select a from t limit 0
""".strip().splitlines()

# DuckDB has other names, other types, another column order for USING, or no such construct.
SPARK_ONLY = """
select a, count(b) as n, count(a, b) as m from t group by a
select a, stddev(b) as sd, var_pop(b) as vp, corr(a, b) as co from t group by a
select a, b, sum(c) as total from t group by rollup (a, b)
select a, b, sum(c) as total, grouping(a) as ga from t group by cube (a, b)
select a, b, count(*) as n from t group by grouping sets ((a), (b), ())
select a, count(*) as n from t where a > 100 group by rollup (a)
select a, b, count(*) as n from t group by a, b with rollup
select a from t where (a, b) not in (select a, k from u)
select a, a in (select k from u) as found, a not in (select k from u) as missing from t
select a, (a in (select k from u)) is null as f, coalesce(b not in (select y from w), true) as m from t
select a, not (a in (select k from u) and b = 1) as n, not (not (a in (select k from u) or b = 1)) as m from t
select a, a in (select 5) as f, a not in (select cast(null as int)) as g, a not in (select 1) as h from t
select a from t where (a in (select k from u)) = false
select a from t where not ((a in (select k from u where u.a = t.b)) = true) or b is null
select a, count(*) as n from t group by a having max(b) not in (select y from w) or count(*) > 1
select * from u join w using (k)
select * from u full join w using (k)
select * from u natural join w
select a, count(*), sum(c), min(b), max(distinct b), avg(c) from t group by a
select a + 1, a * b, c / 2, upper(s) from t
select cast(a as string) as z, 'x' as y, a div 2 as h from t
select a, grouping_id() as g, count(*) as n from t group by rollup (a, b)
select a, b, grouping_id(a, b) as g, grouping(b) as gb from t group by cube (a, b)
select a, e from t lateral view explode(array(a, b)) q as e
select a, e from t lateral view outer explode(filter(array(a, b), i -> i > 1)) q as e
select a, p, e from t lateral view posexplode(array(a, b)) q as p, e
select a, explode(array(a, b)) as e from t
select a, explode(array(a, b)) from t
select a, m.key, m.value from t lateral view explode(map('p', a, 'q', b)) m
select a, q.e from t, lateral explode(array(a, b)) as q(e)
select t.a, q.m from t, lateral (select max(x) as m, count(*) as n from u where u.a = t.a) q
select t.a, q.m, q.n from t join lateral (select max(x) as m, count(*) as n from u where u.a = t.a) q
select t.a, q.x from t, lateral (select x from u where u.a = t.a and u.k > 1) q
select t.a, q.x from t left join lateral (select x from u where u.a = t.a and u.k > 1) q
select a, percentile_cont(0.5) within group (order by b) as med, percentile(b, 0.5) as p from t group by a
select a, every(b > 1) as e, any(b > 1) as y, some(b > 1) as z from t group by a
select a, max_by(b, n) filter (where b > 1) as m from t where n is not null group by a
select a, named_struct('p', a, 'q', b).q as q from t
select q.m.p, q.m.q from (select named_struct('p', a, 'q', b) as m from t) q
select a <=> b as same, a is not distinct from b as same2, a is distinct from b as other from t
select a as k, sum(c) as v from t group by a having k > 1
select b + 1 as b, count(*) as n from t group by b having b > 1
select 'it''s' as q, "x" as r from t
select date_add(d, 1) as d1, d + interval '1' day as d2, datediff(d, d) as dd, date_trunc('month', d) as dt from t
select transform(array(a, b), i -> i + n) as m from t
""".strip().splitlines()

QUERIES = (*ROWS, *JOINS, *GROUPS, *SUBQUERIES, *SETS, *WINDOWS, *LIMITS)

# Queries that tell the time. Each has one right result at every instant.
CLOCK = """
select a, d from t where d >= current_date() - interval 7 days
select a from t where d between current_date() - 2 and current_date
select a from t where not d between current_date() - 2 and current_date
select a from t where d < now() - interval 30 hours and a > 1
select a from t where d is null or d < curdate() or a = 1
select a from t where d = current_date()
select a from t where d <> current_date()
select a from t where nullif(a, 1) + day(current_date()) > 3
select a, datediff(current_date(), d) as age from t
select a, case when d < current_date() then 'past' else 'to come' end as w from t
select current_date() as today
select a, year(current_date) as y, count(*) as n from t group by a
select datediff(current_date(), d) as age, count(*) as n from t group by datediff(current_date(), d)
select datediff(current_date(), d) as age, max(a) as m from t group by 1
select b, count(*) as n, sum(a) as s, max(d) as m from t where d >= current_date() - interval 2 days group by b
select b, count(distinct a) as n from t where d > current_date() group by b
select b, sum(datediff(current_date(), d)) as s from t group by b
select b, count(distinct datediff(current_date(), d)) as s from t group by b
select b, count(case when d < current_date() then 1 end) as s from t group by b having max(d) < current_date()
select distinct d, d < current_date() as old from t
select t.a, u.k from t join u on t.a = u.a and t.d < current_date() - u.k
select t.a, u.k from t left join u on t.a = u.a and t.d < current_date()
select t.a, u.k from t right join u on t.a = u.a and t.d < current_date()
select t.a, u.k from t full join u on t.a = u.a and t.d < current_date()
select t.a, q.w from u left join (select a, d < current_date() as w from t) q on q.a = u.a join t on t.a = u.a
select a from u where exists (select 1 from t where t.a = u.a and t.d >= current_date())
select a from u where not exists (select 1 from t where t.a = u.a and t.d >= current_date())
select a from u where a in (select a from t where d < current_date() and t.b = u.k)
select a from u where a not in (select a from t where d < current_date() and a is not null)
select a, exists (select 1 from t where t.a = u.a and t.d < current_date()) as e from u
select a from u where (select max(d) from t where t.a = u.a) < current_date()
select a, (select count(*) from t where t.a = u.a and t.d < current_date()) as n from u
with s as (select current_date() - 2 as since) select t.a, s.since from t join s on t.d >= s.since
with s as (select current_date() - 2 as since) select t.a, u.k from t, s, u where t.d >= s.since and t.a = u.a
with s as (select a, current_date() as c from u) select t.a from t join s on t.a = s.a and t.d < s.c
select a, row_number() over (partition by b order by d, a, c, s, n) as r from t where d < current_date()
select a, sum(datediff(current_date(), d)) over (partition by b) as r from t
select a, b from t order by abs(datediff(current_date(), d)), a, b limit 3
select a from t where d < current_date() union all select k from u where current_date() > date '2024-01-03'
select a from t where d < current_date() except select k from u
select l.a, r.b from t l join t r on l.a = r.a and l.d < r.d and r.d < current_date()
select t.a, s.c from t left join (select current_date() as c) s on t.d < s.c
select s.c, t.a from (select current_date() as c) s left join t on t.d < s.c
select a from t where d < (select current_date() - 1)
select a from t where d > (select max(d) from t where d < current_date())
select a from t where d >= current_date() - 2 and d < now() or b = day(now())
select a from t where d in (current_date(), current_date() - 1)
select a, d < current_date() as w, (select min(d) from t where d > current_date()) as m from u cross join (select max(d) as d from t) q
select t.a, u.k from t join u on t.a = u.a where t.d < current_date() and exists (select 1 from t o where o.d > t.d and o.d < now())
""".strip().splitlines()
