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
select a, case when d > date'2024-01-02' then 'today' else 'now' end as w, coalesce(s, 'yesterday') as v from t where s <> 'today' or s in ('tomorrow', 'x') or s between 'now' and 'z'
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
select t.a, count(u.k) as n, sum(u.k) as total, max(u.x) as last from t left join u on t.a = u.a group by t.a
select t.a, t.b, sum(coalesce(u.k, 0)) as total, sum(case when u.x > 1.5 then 1 else 0 end) as n from t left join u on t.a = u.a and u.k > 0 group by t.a, t.b
select t.a + t.b as k, count(u.x) as n, count(*) as m from t left join u on t.a = u.a group by t.a + t.b
select t.a, avg(u.k) as m, sum(u.k * t.b) as total, bool_or(u.k > 1) as any from t left join u on t.a = u.a where t.b > 0 group by t.a having count(u.a) > 0
select t.a, count(distinct u.k) as n, sum(u.k) as total from t left join u on t.a = u.a group by t.a
select t.b, sum(w.k) as total, min(w.k + u.k) as least from t left join u on t.a = u.a left join w on u.k = w.k group by t.b
select t.b, count(u.k) as n, count(w.z) as m from t left join u on t.a = u.a left join w on u.k = w.k group by t.b
select count(u.k) as n, sum(u.k) as total from t left join u on t.a = u.a
select t.a, sum(if(u.k is null, 1, 0)) as missing, sum(case when u.k > 1 then u.k else 0 end) as total from t left join u on t.a = u.a group by t.a
select t.a, sum(case u.k when 1 then 2 else 0 end) as n, count_if(u.k = 1) as ones from t left join u on t.a < u.a group by t.a
select t.a, bool_and(u.k is not null) as m, count_if(u.k is not null) as n from t left join u on t.a = u.a group by t.a
select t.a, count(u.k > 1 and t.b > 0) as n, count_if(u.k > 1 and t.b > 0) as m from t left join u on t.a = u.a group by t.a
select q.n, count(*) as c from (select t.a, t.b, count(u.k) as n from t left join u on t.a = u.a group by t.a, t.b) q group by q.n
select t.a, max(q.x) as n, count(q.x) as m from t left join (select a, null as x from u) q on t.a = q.a group by t.a
select u.a, sum(t.b) as total, max(coalesce(t.b, 0)) as m from t right join u on t.a = u.a group by u.a
select t.a, u.x from t left join u on t.a = u.a and u.k > 1
select t.a, u.x from t left join u on t.a = u.a where u.k > 1
select t.a, u.x from t left join u on t.a = u.a where u.k > 1 or u.k is null
select t.a, u.x from t left join u on t.a = u.a and t.b > 1
select t.a, u.x from t right join u on t.a = u.a
select t.a, u.x from t right join u on t.a = u.a where t.b > 1
select q.a, coalesce(q.x, u.k) as x from (select a, null as x from t) q full join u on q.a = u.a
select q.a, q.o.`first-name` as n, u.k from (select a, named_struct('first-name', s, 'select', b) as o from t) q full join u on q.a = u.a
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
select t.a, u.x from t left join u on t.a = u.a and u.k in (select k from w)
select t.a, u.x from t left join u on t.a = u.a and exists (select 1 from w where w.k = u.k)
select t.a, u.x from t left join u on t.a = u.a and u.k = (select max(k) from u)
select t.a from t left semi join u on t.a = u.a and u.k in (select k from w where w.y > u.x)
select t.a from t left anti join u on t.a = u.a and (u.k = 1 or u.x > (select avg(y) from w))
select a, b from t left anti join u on t.a = u.a and u.k > 1
select a, b from t left semi join u using (a)
select a, b from t left anti join u on t.a > u.a
select q.a, q.b, u.k from ((select a, b from t) q left join u on q.a = u.a)
select count(*) as n from (((select a from t) q cross join u))
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
select s, count(distinct a) as n, count(*) as m, count(b) as k, sum(n) as o, sum(c) as p, avg(c) as q, avg(a) as r from t group by s
select s, count(distinct a, d) as n, sum(b) as m, min(b) as k, max(d) as o from t group by s having count(distinct a, d) > 1
select a, s, sum(distinct c) as n, avg(distinct c) as m, count(distinct c) as o, count_if(b > 1) as p from t group by a, s
select count(distinct s) as n, sum(a) as m from t
select b % 2 as p, count(distinct a + 1) as n, bool_or(a > 1) as m from t group by b % 2
select q.s, q.n, u.x from (select s, a, count(distinct b) as n from t group by s, a) q join u on u.a = q.a
select q.a, q.n, q.m, u.x from (select a, sum(n) as n, sum(c) as m, count(d) as o from t group by a) q join u on u.a = q.a
select t.a, t.s from t where t.a in (select k from w where y > 1) and t.b > (select sum(u.k) from u where u.a = t.a)
select t.a from t where t.a in (select k from w where z = 'x') and t.b in (select y from w where k > 0) and t.b > (select count(*) from u where u.a = t.a and u.k = t.b)
select q.p, q.n, sum(u.x) as x from (select a % 2 as p, count(*) as n from t where b > 0 group by a % 2) q join u on u.a = q.n group by q.p, q.n
select u.k, q.n from u left join (select t.a, w.z, sum(t.b) as n from t join w on t.b = w.k group by t.a, w.z) q on q.a = u.k
select a, first(a) filter (where b > 1) as f, last(a) filter (where b > 1) respect nulls as l, any_value(a) filter (where s is null) as v from t group by a
select a, first(a) filter (where b > 1) as f, first(a + 1) filter (where b > 1) as g, first(a) as h, first(distinct a) filter (where b = 1) as i from t group by a
select first(a) filter (where a = 2) as f, last(a + 1) filter (where a = 1) as l, last(a) filter (where a > 100) as m from t
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
select s, bool_and(a not in (1, 2)) as x, bool_or(not a > 1) as y, count(a in (1, 2)) as n, count(not a > 1) as m from t group by s
select s, count(a > 1 and b > 1) as n, count(a between 1 and 2 or b is null) as m from t group by s
select a > 1 and b > 1 as k, not a in (1, 2) as l, count(*) as n, max(b) as m from t group by 1, 2
select q.k, q.n, u.x from (select a > 1 or b > 1 as k, a in (1, 2) as l, count(*) as n from t group by 1, 2) q left join u on q.n = u.k
select sum(n) as total from t
select t.s, w.z, count(distinct u.x) as n from t join u on t.a = u.a join w on w.k = u.k group by t.s, w.z
select t.s, t.d, w.z, count(distinct u.x) as n from t join u on t.a = u.a join w on w.k = u.k group by t.s, t.d, w.z
select a, sum(c) as total from t group by a order by total desc, a limit 2
select q.a, r.b, q.total from (select a, sum(c) as total from t group by a) q join (select b, count(*) as n from t group by b) r on q.a = r.n order by 3, 1, 2 limit 3
select a, sum(sum(c)) over () as whole, rank() over (order by count(*)) as place from t group by a
""".strip().splitlines()

SUBQUERIES = """
select a from t where exists (select 1 from u where u.a = t.a)
select a from t where exists (select * from u where u.a = t.a and u.x > t.c)
select a from t where not exists (select 1 from u where u.a = t.a)
select a from t where exists (select 1 from (select k from u where u.a = t.a) q left join w on q.k = w.k where w.k is null)
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
select a, (select max(k) from u where u.a = t.a having count(*) > 1) as m from t
select a, (select count(*) from u where u.a = t.a having count(*) < 2) as m from t
select a, (select max(k) from u where u.a < t.a having count(*) > t.b) as m from t
select a from t where exists (select count(*) from u where u.a = t.a having count(*) > 1)
select a from t where not exists (select count(*) from u where u.a = t.a having max(k) > 1)
select a from t where exists (select 1 from u where u.a = t.a having count(*) = 0) or b = 1
select a, exists (select 1 from u where u.a = t.a having max(k) > 1) as e from t
select a from t where b in (select max(k) from u where u.a = t.a having count(*) > 1)
select t.a, q.y from t, lateral (select w.y from u right join w on u.k = w.k) as q
select t.a, q.y from t, lateral (select w.y from u full join w on u.k = w.k where w.y > t.a) as q
select t.a, q.y, q.k from t, lateral (select w.y, u.k from u natural full join w) as q
select t.a, q.y from t join lateral (select w.y, w.k from u right join w using (k)) q on q.y > t.a
select a, count(*) as c from (select max(k) as a from u) as q group by rollup(a) order by a, c offset 1
select a from (select k as a from u order by k, a, x limit 1) as q group by cube(a) order by a offset 1
select a from t where (a in (select k from u)) <> true
select a from t where false = (a in (select k from u)) or b is null
select a from t where not (true = (a in (select k from u)))
select a from t where not ((a in (select k from u)) <> false)
select a from t where not ((a in (select k from u) or b > 1) <> true)
select t.a, q.x from t, lateral (select u.x, w.y from u natural join w) q
select t.a, q.x from t, lateral (select u.x, w.y from w natural join u where u.a = t.a) q
select t.a, q.x from t, lateral (select u.x from w join u using (k)) q
select t.a, q.x from t, lateral (select u.x from w left join u using (k) where w.y > t.b) q
select t.a, q.y from t, lateral (select w.y from w semi join u on u.k = w.k) q
select t.a, q.y from t, lateral (select w.y from w anti join u on u.k = w.k) q
select t.a, q.y from t left join lateral (select w.y from u right join w on u.k = w.k) q
select t.a, q.y from t left join lateral (select w.y from u right join w on u.k = w.k where w.y > t.a) q
select t.a, q.y, r.y as z from t, lateral (select w.y from w where w.k = t.a) q, lateral (select w.y from u right join w on u.k = w.k where w.y = q.y) r
select a, count(*) as c from (select max(k) as a from u) as q group by grouping sets ((a), (a), ())
select k, (select count(*) from (select max(r.b) as a from t r) q group by q.a) as c from u
select a from (select a, count(*) as c from (select max(k) as a from u) as q group by rollup(a)) order by a nulls last limit 1
select t.a, l.n from t, lateral (select count(*) as n from u where u.a = t.a having count(*) < 2) l
select t.a, l.n from t left join lateral (select count(*) as n from u where u.a = t.a having count(*) > 1) l
select a from t where exists (select max(k) from u where u.a = t.a)
select a, (select x from u order by x desc, k, a limit 1) as m from t
select a, (select count(*) from u where u.a < t.a) as m from t
select a, (select max(x) from u where u.a = t.a and u.k < t.b) as m from t
select a from t where b > (select avg(k) from u where u.a <> t.a and u.x > t.c)
select a, (select x from u where u.a = t.a order by x desc, k limit 1) as m from t
select a from t where b in (select k from u where u.a = t.a order by k desc, x limit 2)
select a from t join u using (a) where exists (select 1 from w where w.k = u.k and w.y > t.b)
select a, (select distinct k from u where k = 2) as m from t
select a, (select distinct y from w where w.k = t.a and y = t.b) as m from t
select a, (select distinct y + 1 from w where w.k = t.a and y <=> t.b) is null as m from t where b > 0
select a, (select max(x) from u where u.a = t.a group by u.a) as m from t
select a, (select k + 1 from u where u.a = t.a group by u.a, k having k = 1) as m from t
select a, (select k from u where u.a <= t.a group by k having k = 1) as m from t
select a from t where b = (select distinct k from u where k = t.b and u.a = 1) and a > 0
select a, sum(c) as total from t group by a having count(*) >= (select distinct k from u where k = 1)
select q.a, q.m from (select a, b, (select distinct k from u where u.k = t.b) as m from t) q join w on q.m = w.k where q.m > 1
select q.m, count(*) as n, sum(q.a) as s from (select a, (select distinct k from u where u.k = t.b) as m from t) q group by q.m
select a, (select x from u where u.a = t.a and u.k = t.b) as m from t
select a, (select x from u where u.a < t.a) as m from t where b = 1
select a from t where b = (select k from u where u.a = t.a)
select a from t where b >= (select k from u)
select a from t where coalesce((select min(y) from w where w.k = t.b), 0) = 0
select t.a, (select count(*) from u where case when u.k > 1 then '0' else '' end || u.a = t.a) as n from t
select t.a, (select max(u.x) from u where case when u.k > 1 then '0' else '' end || u.a = t.a) as m from t
select t.a, (select u.x from u where case when u.k > 1 then '0' else '' end || u.a = t.a order by u.x, u.k limit 1) as m from t
select t.a, (select distinct u.a from u where case when u.k > 1 then '0' else '' end || u.a = t.a) as m from t
select t.a, l.k from t, lateral (select distinct u.k from u where case when u.k > 1 then '0' else '' end || u.a = t.a) l
select t.a, l.k, l.x from t, lateral (select u.k, u.x from u where case when u.k > 1 then '0' else '' end || u.a = t.a order by u.x, u.k limit 2 offset 1) l
select t.a from t where exists (select 1 from u where case when u.k > 1 then '0' else '' end || u.a = t.a group by u.k having count(*) > 1)
select t.a, (select q.m from (select u.k, u.a, max(u.x) as m from u group by u.k, u.a) q where case when q.k > 1 then '0' else '' end || q.a = t.a) as m from t where t.b = 1
select t.c, (select count(*) from u where u.x = t.c) as n, (select count(*) from u where u.a = t.n) as o from t
select t.c, (select sum(u.k) from u where cast(u.x as double) = t.c) as n, (select sum(u.k) from u where u.x = cast(t.c as double)) as o from t
select t.a, (select u.x from u where u.k < t.a order by u.x, u.k limit 1) as m from t
select t.a, l.k, l.x from t left join lateral (select u.k, u.x from u where u.k <= t.b and u.a = t.a order by u.k desc, u.x limit 2) l
select t.a, l.k from t, lateral (select distinct u.k from u where u.a <= t.a) l
select a, (select u.k + t.b from u where u.a = t.a order by u.k, u.x limit 1) as m from t
select a, (select u.k from u where u.a <= t.a order by abs(u.k - t.b), u.k, u.x limit 1) as m from t
select a from t where n in (select u.k + t.b from u where u.a = t.a)
select a from t where n not in (select u.k + t.b from u where u.a = t.a)
select a from t where n in (select u.k + t.b from u where u.a < t.a) or b = 1
select a, (select distinct t.b + 1 from u where u.a = t.a) as m from t
select a, (select t.b from u where u.a = t.a and u.k = 1) as m from t
select a, (select t.b + t.a) as m from t
select a, (select max(k) + t.b from u) as m from t
select a from t where exists (select 1 from (values (1, 'x'), (2, null)) as x(i, j) where x.j = t.s)
select a, (select sum(q.k) from (select k, a, count(*) as n from u group by grouping sets ((k, a), (k))) q) as m from t
select b from t where b not in (select k from u where k > 0 group by grouping sets ((k, a), (k)))
select a, ((select k from u) order by k limit 1) as m from t
select a, ((select count(*) from u where u.a = t.a) limit 0) as m from t
select a from t where b in ((select k from u where u.a = t.a) union all (select y from w order by y, k, z limit 2))
select a from t where exists (select k from u where u.a = t.a union all select k from w where w.k = t.a and exists (select 1 from u where u.k = w.y))
select a from t where exists (select k from u where u.a = t.a union all select k from w where w.k = t.a group by k having count(*) > 1)
select a, (select count(*) from (select k from u where u.a = t.a union all select k from w where w.k = t.a order by 1 limit 2) q) as n from t
select a, (select sum(n) from (select k, count(*) as n from u where u.a = t.a group by k union all select y, 1 from w where w.k = t.a) q) as n from t
select a, b from t where exists (select 1 from u where u.a = t.a union all select 1 from u where u.k = t.b union all select 1 from w where w.k = t.a)
select t.a, q.n from t join lateral (with q as (select count(*) as n from u where u.a = t.a) select n from q where n < 2) q
select s, count(*) as n from t where exists (select k from u where u.a = t.a union select y from w where w.k = t.b) group by s
select a from t left join u using (a) where exists (select 1 from w where w.k = u.k union all select 1 from w where w.y = t.b)
select a, (select count(distinct k) from (select k from u where u.a = t.a union all select y from w where w.k = t.b) q) as n from t
select a, (select x from (select max(x) as x from u where u.a = t.a) q where x > t.c) as m from t
select a, (select m.x from (select max(x) as x from u where u.a = t.a) m join (select count(*) as n from w where w.k = t.b) r on r.n < 3) as m from t
select a from t where not exists (select 1 from (select count(*) as n from u where u.a = t.a) m left join (select y from w) r on r.y = m.n where r.y is null)
select a, (select max(n) from (select a, count(*) as n from u where u.k = t.b group by a having count(*) > t.a) q) as m from t
select a, case when b in (select k from u where u.a = t.a union all select max(y) from w where w.k = t.a) then 1 when not b in (select max(k) from u where u.a = t.a having count(*) > 1) then 2 end as r from t
select a, exists (select count(*) from u where u.a = t.a offset 1) as e, exists (select count(*) from u where u.a = t.a limit 3) as f from t
select a from t where b in ((select k from u) limit 0) or a = 1
select a from t where b in ((select k from u where u.a = t.a) order by k desc limit 1)
select a, ((select max(k) from u where u.a = t.a) limit 1 offset 1) as m, (((select count(*) from u where u.a = t.a)) limit 2) as n from t
select t.a, l.k from t left join lateral ((select k from u where u.a = t.a) order by k limit 1) l
select a from t where exists (select 1 from u where u.a = t.a union all select 1 from w where w.k = t.a)
select a from t where exists (select k from u where u.a = t.a union select k from w where w.k = t.b)
select a from t where not exists (select k from u where u.a = t.a union all select y from w where w.z = t.s)
select a, exists (select k from u where u.a = t.a intersect select y from w where w.k = t.a) as e from t
select a from t where not exists (select k from u where u.a = t.a except select y from w where w.k < t.b)
select a from t where exists (select k from u where u.a = t.a except all select y from w)
select a from t where exists (select k from u where u.k = 1 union all select y from w where w.k = t.a and w.y > t.b)
select a from t where b in (select k from u where u.a = t.a union all select y from w where w.k = t.a)
select a from t where b not in (select k from u where u.a = t.a union all select y from w where w.k = t.a)
select a from t where b not in (select k from u where u.a = t.a union select y from w where w.y > t.a)
select a from t where b in (select k from u where u.a <=> t.a union all select y from w where w.k <=> t.a) or a = 1
select a from t where exists (select k from u where u.a = t.n union all select y from w where w.k = t.n)
select a from t where exists (select 1 from u where u.a = t.a and u.k = t.a union all select 1 from w where w.k = t.a and w.y = t.a)
select a from t where b in (select max(k) from u where u.a = t.a union all select count(*) from w where w.k = t.a)
select a from t where b not in (select max(k) from u where u.a = t.a having count(*) > 1)
select a from t where not (b in (select count(*) from u where u.a = t.a having count(*) < 2) and a = 1)
select a, (select count(*) from (select k from u where u.a = t.a union all select y from w where w.k = t.b) q) as n from t
select a, (select count(*) from (select k from u where u.a = t.a union select y from w where w.k < t.b) q where q.k > 0) as n from t
select a, (select k from u where u.a = t.a union select y from w where w.k = t.a order by 1 desc limit 1) as m from t
select t.a, l.k from t, lateral (select k from u where u.a = t.a union all select y from w where w.k = t.a) l
select t.a, l.k from t left join lateral (select k from u where u.a = t.a union all select t.b from w where w.k = t.a) l
select t.a, l.y from t, lateral (select t.a as y union all select t.b) l
select t.a, l.y from t, lateral (select t.a as y except select t.b) l
select a, (select max(m) from (select max(k) as m from u where u.a = t.a) q) as x from t
select a, (select sum(m) from (select count(*) as m from u where u.a = t.a) q) as x from t
select a, (select count(*) from (select count(*) as m from u where u.a = t.a) q where q.m = 0) as x from t
select a from t where exists (select 1 from (select max(k) as m from u where u.a = t.a) q where q.m > 1)
select a from t where exists (select 1 from (select max(k) as m from u where u.a = t.a having count(*) > 1) q)
select a from t where not exists (select 1 from (select count(*) as m from u where u.a < t.a having count(*) > t.b) q)
select a from t where b in (select q.m + w.k from (select count(*) as m from u where u.a = t.a) q join w on w.y = q.m)
select a from t where b not in (select q.m from (select max(k) as m from u where u.a = t.a) q)
select a from t where exists (select 1 from w left join (select count(*) as m from u) q on w.k = q.m where w.y = t.b)
select t.a, l.m from t, lateral (select q.m + 1 as m from (select count(*) as m from u where u.a = t.a) q) l
select t.a, l.m from t left join lateral (select max(u.x) as m from u where u.k = t.a) l on l.m > t.b
select t.a, l.m from t left join lateral (select count(*) as m from u where u.k = t.a) l on l.m = 0
select a, (select count(*) + (select max(k) from w) from u where u.a = t.a) as x from t
select a, (select count(*) from u where u.a = t.a having count(*) < (select max(k) from w)) as x from t
select a, (select count(*) from u where u.a = t.a having max(k) in (select y from w) or count(*) = 0) as x from t
select a, (select count(*) from u where u.a = t.a limit 0) as n, (select count(*) from u where u.a = t.a limit 1 offset 1) as m from t
select a from t where exists (select count(*) from u where u.a = t.a limit 2 offset 1) or a = 1
select a from t where exists (select max(k) from u having max(k) > t.b)
select a from t where exists (select 1 from u having count(*) > t.b) or a = 1
select a, (select max(k) from u having count(*) > t.b) as m from t
select a from t where b not in (select max(k) from u having count(*) > t.b)
select a from t where exists (with q as (select k from u where u.a = t.a) select 1 from q where k > 1)
select a, (with q as (select k from u where u.a = t.a) select max(k) from q) as x from t
select a, (with q as (select count(*) as n from u where u.a = t.a) select n from q) as x from t
select a from t where b in (with q as (select k from u where u.a = t.a) select x.k from q x join q y on x.k = y.k)
select a from t where exists (with q as (select k, x from u where u.a = t.a), r as (select k from q where x > t.c) select 1 from r join w using (k))
select a, (select max(u.k) + t.b from u where u.a = t.a group by u.a) as m from t
select t.a, l.k from t left join lateral (select u.k + t.b as k from u where u.a = t.a order by u.k, u.x limit 2) l
select t.a, l.k, l.r from t, lateral (select k, rank() over (order by k) as r from u where u.a = t.a) l where l.r <= 2
select t.a, l.k, l.n from t left join lateral (select k, sum(x) over (order by k) as m, count(*) over () as n from u where u.a <= t.a) l on l.n > 1
select t.a, l.k, l.p from t, lateral (select k, lag(k) over (partition by x order by k) as p from u where u.a = t.a order by k desc, x limit 2) l
select t.a, l.k, l.r from t, lateral (select k, count(*) as n, rank() over (order by count(*) desc) as r from u where u.a = t.a group by k) l
select t.a, l.k from t, lateral (select q.k from (select k, row_number() over (order by k, x) as r from u where u.a = t.a) q where q.r <= t.b) l
select a, (select q.k from (select k, row_number() over (order by x desc, k) as r from u where u.a = t.a) q where q.r = 1) as m from t
select a, (select distinct count(*) over () from u where u.a = t.a) as m from t
select a from t where exists (select 1 from u where u.a = t.a qualify row_number() over (order by k) = 2)
select a from t where b in (select k from u where u.a <= t.a qualify rank() over (order by x desc) = 1)
select a from t where b not in (select k from u where u.a >= t.a and k is not null qualify rank() over (order by x desc) = 1)
select a from t where exists (select 1 from u where u.a = t.a union select 1 from w where w.k = t.b)
select a from t where not exists (select 1 from u where u.a = t.a union all select 1 from w where w.k = t.a)
select a from t where exists (select k from u where u.a = t.a intersect select k from w where w.y < t.b)
select a from t where exists (select k from u where u.a = t.a except select k from w)
select a from t where b in (select k from u where u.a = t.a union all select y from w where w.k = t.b)
select a from t where b not in (select max(k) from u where u.a = t.a union select min(y) from w where w.k = t.a)
select a, (select sum(q.v) from (select x as v from u where u.a = t.a union all select y from w where w.k = t.a) q) as m from t
select a, (select count(*) from (select k as v from u where u.a = t.a except all select y from w where w.k = t.a) q) as m from t
select a, (select count(*) from (select k as v from u where u.a = t.a intersect all select y from w where w.k <= t.b) q) as m from t
select a, (select sum(q.v) from (select count(*) as v from u where u.a = t.a union all select max(y) from w where w.k = t.b having count(*) > 1) q) as m from t
select t.a, l.v from t, lateral (select t.a as v union all select t.b) l
select t.a, l.v from t left join lateral (select k as v from u where u.a = t.a union select y from w where w.k = t.b) l
select t.a, l.v from t, lateral ((select k as v from u where u.a = t.a order by k limit 1) union all (select y from w where w.k = t.a order by y desc limit 1)) l
select a from t where exists (select 1 from (select max(k) as m from u where u.a = t.a having count(*) > 1) q)
select a, (select q.m + r.n from (select max(k) as m from u where u.a = t.a) q, (select count(*) as n from w where w.k = t.b) r) as m from t
select t.a, l.m, l.z from t, lateral (select q.m, w.z from (select count(*) as m from u where u.a = t.a) q left join w on w.k = q.m) l
select a, (select count(*) from (select count(*) as n from u where u.a = t.a) q where q.n = 0) as m from t
select a from t where exists (with q as (select k from u where u.a = t.a) select 1 from q where k > 1)
select t.a, l.k, l.o from t, lateral (with q as (select k from u where u.a = t.a) select x.k, y.k as o from q x join q y on x.k <= y.k) l
select t.a, l.n, l.z from t, lateral (with q as (select count(*) as n from u where u.a = t.a) select q.n, w.z from q left join w on w.k = q.n) l
select a from t where a in (select i from values (1, 'x'), (2, null) as v(i, j))
select a from t where exists (select 1 from (values (1, 'x'), (2, 'z')) as v(i, j) where v.i = t.a and v.j = t.s)
select a, (select max(j) from values (1, 'x'), (2, 'z') as v(i, j) where v.i = t.a) as m from t
select a from t where (a, s) in (select * from values (1, 'x'), (2, 'xy') as v(i, j))
select a from t where a in (values (1), (2)) and a not in (values (2), (3))
select a, b from t where (a, b) in (values (1, 2), (2, 3)) and exists (values (1))
select a, (values (7)) as m, sum(b) as s from t group by a having a in (values (1), (2))
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
select cast(v as string) as k, b from (select a as v, b from t union all select x, k from u) q
select count(*) as n from (select a as v from t except select x from u) q where cast(v as string) like '%.00'
select cast(v as string) as k, count(distinct b) as n from (select a as v, b from t union all select x, k from u) q group by cast(v as string)
select w.z, cast(q.v as string) as k from w left join (select a as v from t union all select x from u) q on cast(q.v as string) = w.z
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
select a, max(b) over v as hi, rank() over (x) as rk from t window w as (partition by a), v as w, x as (y), y as (partition by s order by b)
select a, (select max(q.n) from (select count(*) over w as n from u window w as (partition by k)) q) + count(*) over w as m from t window w as (partition by a)
select a, c - avg(c) over (partition by a) as off from t
select q.a, q.rk from (select a, b, rank() over (partition by a order by b) as rk from t) q where q.rk = 1 and q.a > 1
select a, lag(b) over (partition by a order by b, c, s, d, n) as prev from t
select a, count(*) filter (where b > 1) over (partition by a) as n from t
select q.a, q.n, u.k from (select a, count(*) over (partition by cast(a as boolean)) as n from t) q join u on q.a = u.a
select q.a, q.b, q.n, w.z from (select a, b, sum(b) over (partition by a) as n from t) q left join w on q.a <=> w.k + q.b
select a, row_number() over (partition by a order by b, c, s, d, n) as x, row_number() over (partition by a order by d, c, s, b, n) as y from (select distinct * from t) q
select a, b, size(collect_list(coalesce(s, '-')) over (partition by a order by b)) as n, size(collect_list(coalesce(s, '-')) over (partition by a)) as m from t
select a, b, nth_value(coalesce(s, '-'), 2) over (partition by a order by b) is null as p, nth_value(coalesce(s, '-'), 2) over (partition by a order by b rows 1 preceding) is null as q from t
select a, b, count(distinct l) as n, count(distinct f) as m from (select a, b, last_value(coalesce(s, '-')) over (partition by a order by b) as l, first_value(coalesce(s, '-')) over (partition by a order by b range between current row and unbounded following) as f from t) group by a, b
select a, b, first_value(s) ignore nulls over (partition by a order by b) is null as f, last_value(s) ignore nulls over (partition by a order by b) is null as l from t
select a, b, last_value(coalesce(s, '-')) over (partition by a order by b range between 1 preceding and 1 preceding) is null as l from t
select a, b, first_value(b) over (partition by a order by b desc range between 1 preceding and current row) as f from t
""".strip().splitlines()

LIMITS = """
select a, b from t order by a, b desc, c, s, d, n limit 3
select distinct a, b from t order by b desc nulls last, a limit 4
select a, sum(c) as total from t group by a order by total desc, a limit 2
select a, sum(c) as total from t group by a order by count(*) desc, a limit 2 offset 1
select a from (select a, b from t order by b, a limit 3) q where a > 1
select a from t union all select k from u order by 1 limit 4
select a, b from t union all select k, a from u order by 2 desc, 1 limit 4
select a, b from t order by 2, 1 limit 3
select a, b, (select max(x) from u where u.a = t.a) as m from t order by m desc, a, b, c, s, d, n limit 2
select distinct a, (select count(*) from u where u.k = t.b) as m from t order by 2 desc, 1 limit 2
select distinct a, exists (select 1 from u where u.a = t.a) as e from t order by e desc nulls last, a limit 2
select distinct a, case when a in (select k from u) then 1 else 0 end as e from t order by e, a desc limit 2
select a, max(b) - (select max(k) from u) as m from t group by a order by m, a limit 2
select a, max(b) as m from t group by a order by abs(a - (select max(k) from u)), a limit 2
select distinct a, b from t order by 1, 2 limit 3 offset 1
select a, b from t order by all limit 3
select distinct b, a from t order by all desc limit 2
select * from t order by all desc limit 1
select q.n from (select * from t order by all limit 3) q
select u.*, t.b as p, t.n from t join u on t.a = u.a order by all desc limit 3
select * from u union all select * from u where k > 1 order by all desc limit 3
(select * from u) except (select * from u where x > 1) order by all limit 2
select t.a, l.m from t, lateral (select u.k + (select max(y) from w) as m from u where u.a = t.a order by m, u.x limit 1) l
select a from t order by a
select a, b from t order by a, b, c, s, d, n limit (2 + 3) * 2 - 7 offset 2 - 1
select a from t where b in (select k from u where u.a = t.a order by k desc, x limit 1 + 1)
select a from t where exists (select k from u where u.a = t.a limit 1 + 1) or exists (select 1 from w where w.k = t.b limit 2 - 2)
select a, (select max(k) from u where u.a = t.a limit 2 - 1) as m from t
select a from t limit 0
select a from t where not exists (select 1 from u where u.a = t.a limit 0)
select a, (select x from u where u.a = t.a limit 0) as x from t
""".strip().splitlines()

# Subqueries where DuckDB takes none or counts no rows as NULL, each with a query that has the same rows and that it takes.
REWRITTEN = """
select a, struct(q.st.*, a).p as x, to_json(struct(st.*)) as y from (select a, named_struct('p', b, 'r', s) as st from t where b > 0 and s > '') q | select a, b as x, to_json(named_struct('p', b, 'r', s)) as y from t where b > 0 and s > ''
select spark_catalog.shop.t.b, Spark_Catalog.Shop.u.* from spark_catalog.shop.t join u on spark_catalog.shop.t.b = u.k | select t.b, u.* from t join u on t.b = u.k
select any, for, minus, q.values from (select a as any, b as for, c as minus, s as values from t) q where for > 1 or minus is null | select a as "any", b as "for", c as minus, s as "values" from t where b > 1 or c is null
select max(values) as m, sum(minus) - 1 as x, for from (select a as for, b as values, c as minus from t) q where 0 < minus group by for having max(values) - 1 >= for | select max(b) as m, sum(c) - 1 as x, a as "for" from t where 0 < c group by a having max(b) - 1 >= a
select case when for > 1 then values else - minus end as x, rank() over (partition by for order by values desc) as r from (select a as for, b as values, n as minus from t) q | select case when a > 1 then b else - n end as x, rank() over (partition by a order by b desc) as r from t
select a from t minus select k from u | select a from t except select k from u
select a from t where exists (select 1 from explode(array(a, b)) as x(e) where e > 1) | select a from t where a > 1 or b > 1
select a from t where exists (select 1 from (select explode(array(a, b)) as e) q join u on u.k = q.e where u.a = t.n) | select a from t where exists (select 1 from u where u.a = t.n and (u.k = t.a or u.k = t.b))
select a from t where n not in (select explode(array(a, b))) | select a from t where n <> a and n <> b
select a, (select max(e) from explode(array(a, b)) as x(e)) as m from t | select a, greatest(a, b) as m from t
select a, (select count(*) from u lateral view explode(array(t.a, u.k)) x as e where e = t.b and u.a = t.a) as m from t | select a, (select count(*) from u where u.a = t.a and t.a = t.b) + (select count(*) from u where u.a = t.a and u.k = t.b) as m from t
select a from t where b in (select u.k + e from u join lateral explode(array(t.a, u.a)) as x(e) where u.x > t.c) | select a from t where exists (select 1 from u where u.x > t.c and (t.b = u.k + t.a or t.b = u.k + u.a))
select a from t where not exists (select 1 from u lateral view outer explode(filter(array(t.a), i -> i > 1)) x as e where e is null and u.k = t.b) | select a from t where not exists (select 1 from u where u.k = t.b and not coalesce(t.a > 1, false))
select s, explode(collect_list(a)) as e from t group by s | select s, a as e from t where a is not null
select explode(collect_set(a)) as e from t where b > 1 | select distinct a as e from t where b > 1 and a is not null
select s, count(*) as n, explode(collect_list(b)) as e from t group by s having count(*) > 1 | select q.s, q.n, t.b as e from (select s, count(*) as n from t group by s having count(*) > 1) q join t on q.s <=> t.s and t.b is not null
select explode_outer(collect_list(a)) as e, s from t group by 2 | select a as e, s from t where a is not null union all select null, s from t group by s having count(a) = 0
select distinct s, stack(2, max(a), min(b)) as x from t group by s order by x desc, s limit 3 | select distinct s, x from (select s, max(a) as x from t group by s union all select s, min(b) from t group by s) q order by x desc, s limit 3
select upper(s) as g, a % 2 as p, inline(collect_list(struct(a, b))) as (x, y) from t group by g, 2 | select upper(s) as g, a % 2 as p, a as x, b as y from t
select a from t where b in (select explode(collect_list(k)) from u where u.a = t.a) or a = 1 | select a from t where b in (select k from u where u.a = t.a and k is not null) or a = 1
select a from t where b not in (select explode(array(max(k), min(k))) from u where u.a = t.a) | select a from t where b not in (select max(k) from u where u.a = t.a union all select min(k) from u where u.a = t.a)
select a, count(*) as n from t group by a having exists (select 1 from u where u.k < max(t.b)) | select a, n from (select a, count(*) as n, max(b) as m from t group by a) q where exists (select 1 from u where u.k < q.m)
select a, max(b) as m from t group by a having not exists (select 1 from u where u.a = t.a and u.k >= min(b)) and count(*) > 1 | select a, m from (select a, count(*) as n, max(b) as m, min(b) as l from t group by a) q where not exists (select 1 from u where u.a = q.a and u.k >= q.l) and n > 1
select a, sum(c) as total from t group by a having max(b) not in (select k from u where u.x <= avg(t.c)) | select a, total from (select a, sum(c) as total, max(b) as m, avg(c) as v from t group by a) q where m not in (select k from u where u.x <= q.v)
select a from t group by a having count(*) > (select count(*) from u where u.k = count(t.b) filter (where t.b < 3)) | select a from (select a, count(*) as n, count(case when b < 3 then 1 end) as m from t group by a) q where n > (select count(*) from u where u.k = q.m)
select u.k, (select count(*) from t where t.a = u.a having exists (select 1 from w where w.k = max(t.b))) as n from u | select u.k, (select n from (select a, count(*) as n, max(b) as m from t group by a) q where q.a = u.a and m in (select k from w)) as n from u
select a from t where (a, b) in (select a, k from u where u.x = t.c union all select k, y from w where w.z = t.s) | select a from t where exists (select 1 from u where u.x = t.c and u.a = t.a and u.k = t.b) or exists (select 1 from w where w.z = t.s and w.k = t.a and w.y = t.b)
select a, (select regr_count(u.k, u.x) from u where u.a = t.a) as m from t | select a, (select count(u.k + u.x) from u where u.a = t.a) as m from t
select t.a, u.x from t left join u on t.a = u.a and t.b in (select k from w where k is not null) | select t.a, u.x from (select *, b in (select k from w where k is not null) as m from t) t left join u on t.a = u.a and t.m
select t.a, u.x from t full join u on t.a = u.a and exists (select 1 from w where w.y = t.b) | select t.a, u.x from (select *, exists (select 1 from w where w.y = t.b) as m from t) t full join u on t.a = u.a and t.m
select t.a, u.x from t full join u on t.a = u.a and (u.k in (select k from w) or t.b > 1 and not exists (select 1 from w where w.y = t.b)) | select t.a, u.x from (select *, b > 1 and not exists (select 1 from w where w.y = t.b) as m from t) t full join (select *, k in (select k from w) as n from u) u on t.a = u.a and (u.n or t.m)
select t.a, u.x from t right join u on t.a = u.a and t.b in (select y from w) and exists (select 1 from w where y > 1) | select t.a, u.x from (select * from t where b in (select y from w) and exists (select 1 from w where y > 1)) t right join u on t.a = u.a
select t.a, u.x from t full join u on t.a = u.a and t.b > (select min(y) from w) | select t.a, u.x from (select *, b > (select min(y) from w) as m from t) t full join u on t.a = u.a and t.m
select t.a from t left anti join u on t.a = u.a and (t.b = 1 or t.b in (select k from w) or u.k in (select y from w)) | select a from t where not exists (select 1 from u where u.a = t.a and (t.b = 1 or t.b in (select k from w) or u.k in (select y from w)))
select t.a, l.k, l.x from t left join lateral (select u.k, u.x from u where u.a = t.a) l on l.k in (select k from w) and exists (select 1 from w where w.y = t.b) | select t.a, l.k, l.x from (select *, exists (select 1 from w where w.y = t.b) as m from t) t left join (select * from u where k in (select k from w)) l on l.a = t.a and t.m
select * except (u.a, u.k) from t join u on t.a = u.a | select t.*, u.x from t join u on t.a = u.a
select u.* except (u.a), t.* except (a, t.c, n) from t join u on t.a = u.a | select u.k, u.x, t.b, t.s, t.d from t join u on t.a = u.a
select count(distinct *) as n, count(distinct *) filter (where k > 1) as m, count(*) as o from u | select count(distinct a, k, x) as n, count(distinct a, k, x) filter (where k > 1) as m, count(*) as o from u
select t.b, count(distinct * except (t.c, s, d, n, t.b)) as n from t join u on t.a = u.a group by t.b | select t.b, count(distinct t.a, u.a, k, x) as n from t join u on t.a = u.a group by t.b
select t.a, t.b, v.k from t join u on t.a = u.a join u v using (a) | select t.a, t.b, v.k from t join u on t.a = u.a join u v on t.a = v.a
select t.b, q.a, q.k, r.y from t left join (select k as a, k from u) q on t.b = q.k left join (select y as a, y from w) r using (a) | select t.b, q.a, q.k, r.y from t left join (select k as a, k from u) q on t.b = q.k left join (select y as a, y from w) r on r.a = t.a
select a, b from t join explode(array(1, 2)) as x(a) using (a) | select a, b from t where a in (1, 2)
select * from (select a, b from t) q join (select a, k from u) r using (a) pivot (count(*) for k in (1 as one, 2 as two)) | select a, b, nullif(count_if(k = 1), 0) as one, nullif(count_if(k = 2), 0) as two from (select t.a, b, k from t join u on t.a = u.a) q group by a, b
select b, v from (select a, b from t) q join (select a as c, k from u) r on q.a = r.c unpivot (v for name in (a, k)) | select b, v from (select t.b, t.a as v from t join u on t.a = u.a union all select t.b, u.k from t join u on t.a = u.a) q where v is not null
select p.b, p.one, w.y from (select b from t) q left join (select k from u) r on q.b = r.k pivot (count(*) for k in (1 as one)) p join w on w.k = p.b | select p.b, p.one, w.y from (select b, nullif(count_if(k = 1), 0) as one from t left join u on t.b = u.k group by b) p join w on w.k = p.b
select * from (select b from t) q cross join (select k from u) r pivot (count(*) for k in (1 as one)) | select b, nullif(count_if(k = 1), 0) as one from t cross join u group by b
select * from (select a, b from t) q natural join (select a, k from u) r pivot (count(*) for k in (1 as one)) | select a, b, nullif(count_if(k = 1), 0) as one from (select t.a, b, k from t join u on t.a = u.a) q group by a, b
select * from (select b from t) q, (select k from u) r pivot (count(*) for k in (1 as one)) | select b, nullif(count_if(k = 1), 0) as one from t cross join u group by b
select * from w, (select b from t) q, (select k as o from u) r unpivot (v for name in (b, o)), (select x from u) x where w.y > 1 | select w.*, name, v, x.x from w cross join (select 'b' as name, b as v from t cross join u union all select 'o', k from t cross join u) q cross join u x where w.y > 1 and v is not null
select t.a, q.k, q.one + t.b as e from t, lateral (select * from (select k from u) x join (select k as o, y from w) z on x.k = z.o pivot (sum(y) for o in (1 as one))) q | select t.a, q.k, q.one + t.b as e from t cross join (select u.k, sum(case when w.k = 1 then w.y end) as one from u join w on u.k = w.k group by u.k) q
select * from (select b from t) q cross join ((select k from u) r pivot (count(*) for k in (1 as one))) | select b, one from t cross join (select nullif(count_if(k = 1), 0) as one from u) r
select r.k from t join ((select a, k from u) r) on t.a = r.a | select r.k from t join (select a, k from u) r on t.a = r.a
select st.P as p, St.p + 1 as q, count(*) as n from (select named_struct('p', a) as st from t) q group by st.p | select a as p, a + 1 as q, count(*) as n from t group by a
with l as (select a, b, c from t qualify row_number() over (partition by a order by d) = 1) select count(*) as n from l x join l y on x.a <=> y.a where not exists (select 1 from t where t.a <=> x.a and t.b <=> x.b and t.c <=> y.c) | select 0 as n
with l as (select b, c from t order by d limit 1) select count(*) as n from (select b from l) x cross join (select c from l) y where not exists (select 1 from t where t.b <=> x.b and t.c <=> y.c) | select 0 as n
with l as (select a, first(b) as b, first(c) as c from t group by a) select count(*) as n from l x join l y on x.a <=> y.a where not exists (select 1 from t where t.a <=> x.a and t.b <=> x.b and t.c <=> y.c) | select 0 as n
with l as (select b, c, n from t order by d limit 2), m as (select b, c from l order by n limit 1) select count(*) as n from (select b from m) x cross join (select c from m) y where not exists (select 1 from t where t.b <=> x.b and t.c <=> y.c) | select 0 as n
""".strip().splitlines()

# DuckDB has other names, other types, another column order for USING, or no such construct.
SPARK_ONLY = [line.partition(" | ")[0] for line in REWRITTEN]
SPARK_ONLY += """
select a, sum(b) as b from t group by a having b > 1
select a, count(*) as b from t group by a having b > 1 and sum(b) < 9
select a % 2 as a, count(*) as n from t group by a % 2 having a = 1
select a, hash(*) as h from t
select hash(* except (u.a)) as h, array(u.* except (u.x)) as l from t join u on t.a = u.a
select a, decode(b, 1, 'today', 'later') as w, nvl2(d, 'today', 'never') as v, if(d > date'2024-01-02', 'now', s) as x from t
select to_json(struct(*)) as j from (select a, b as p from t where c > 1)
select t.a, hash(u.*) as h, array(u.* except (x)) as l from t join u on t.a = u.a
select t.b, md5(concat_ws('|', *)) as h from t join u using (a)
select a, max(struct(*)).x as m, count(*) as n from u group by a
select a, (select max(struct(*)).y from w where w.k = t.a) as m from t
select hash(*) as h, row_number() over (partition by hash(* except (x)) order by x) as r from u
select a from t where collate(s, 'UTF8_LCASE') = 'X' or s collate UTF8_LCASE < 'y'
select s, count(not a > 1, b in (1, 2)) as c from t group by s
select b + a as x, extract(year from d) as y, b < a as l, int(n) * (b + a) as z, count(*) as c from t group by a + b, year(d), a > b, cast(n as int)
select date_part('MONTH', d) as m, sum(c) as s, grouping(b + a) as g from t group by rollup (extract(month from d), a + b) having b + a is null or b + a > 1
select case when n = 1 and a = b then 1 else 0 end as x, count(*) as c from t group by case when (b = a) and 1 = n then 1 else 0 end
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
select Substr(s, 1, 2), substring(s, 1, 2), round(a / b, 2), cast(a as string), coalesce(a, 0), NVL(b, 0) from t
select cast(a as decimal(15,4)) / cast(n as decimal(15,4)) * 100, (a + b) * -2, a - b - 1, -a, a div 2, 1.50, 'x', null, true from t
select a is not null, a is null, a <> b, not (a > 1), a between 1 and 2, a not in (1, 2), s like 'x%', s || s || 'x', a <=> b from t
select case a when 1 then 2 else b end, case when a > 1 and b < 2 or a = 3 then 'p' when b is null then 'q' end from t
select year(d), month(d), length(s), upper(t.s), trim(s), concat(s, 'b'), greatest(a, b), nullif(a, b), substr(upper(s), 1, 1) from t
select A, sum(a + B), count(distinct b), count(distinct a, b), round(sum(c) / count(*), 2), coalesce(sum(c), 0) from t group by a
select sum(case when a > 1 then 1 else 0 end), mean(c), max(s) like 'x%', sum(c) filter (where b > 1 and a is not null) from t
select a, sum(b) over (), max(b) over (partition by a, s), c * 100 / sum(c) over (partition by a) from t
select a, sum(c) * 100 / sum(sum(c)) over (partition by s) from t group by a, s
select q.`(a + 1)`, q.`count(1)` from (select a + 1, count(*) from t group by a + 1) q
select cast(a as string) as z, 'x' as y, a div 2 as h from t
select u.*, t.b from t left join u using (a)
select u.* from t full join u using (a)
select u.* from u join w using (k)
select w.* from u right join w using (k)
select * from (select w.* from u left join w using (k)) q
select u.*, w.y from u full join w using (k)
select u.* from u left semi join w using (k)
select * from u left anti join w using (k)
select u.* from t join u using (a) right join (select x, y, k as q from w join u using (k)) q using (x)
select t.*, u.k from t full join u using (a)
select * from t natural join u natural join w
select w.* from u natural join w
select a + 1 as p, b % 2 as q, count(*) as n, sum(c) + 1 as total from t group by all
select a, a + sum(b) as total, total + 1 as more, more * 2 as most from t group by a
select a + b, count(*) from t group by all
select * except (q) from (select a, named_struct('p', a, 'r', b) as q from t)
select a, grouping_id() as g, count(*) as n from t group by rollup (a, b)
select a from t where b in (select k from u group by rollup ((a, k))) or b in (select k from u group by cube ((k, a), x))
select exists (select 1 from u where u.a = t.a and u.x <= t.b) as e, count(*) as n from t group by exists (select 1 from u where u.a = t.a and u.x <= t.b)
select case when exists (select 1 from u where u.a = t.a) then b end as e, count(*) as n from t group by case when exists (select 1 from u where u.a = t.a) then b end
select (select max(x) from u where u.a = t.a) as m, count(*) as n from t group by (select max(x) from u where u.a = t.a)
select (select max(x) from u where u.a = t.a) + 1 as m, sum(b) as n from t group by (select max(x) from u where u.a = t.a) having (select max(x) from u where u.a = t.a) > 0
select exists (select 1 from u where u.a = t.a) as e, a is null as i, count(*) as n from t group by e, 2, e
select a in (select a from u) as i, a in (select a from u where x > 1) as j, sum(b) as n from t group by all
select a not in (select k from u where k is not null) as i, count(*) as n from t group by rollup (i)
select (select max(x) from u) + a as m, count(*) as n from t group by (select max(x) from u) + a
select a, b, grouping_id(a, b) as g, grouping(b) as gb from t group by cube (a, b)
select a, e from t lateral view explode(array(a, b)) q as e
select a, e from t lateral view outer explode(filter(array(a, b), i -> i > 1)) q as e
select a, x, y, e from t lateral view inline(array(named_struct('p', a, 'q', b), named_struct('p', b, 'q', a))) i as x, y lateral view outer explode(filter(array(x, y), i -> i > 1)) q as e
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
select a, first(b) filter (where b = 2) ignore nulls as f, first(b, true) filter (where b > 4) is null as g from t group by a
select a, any_value(b) filter (where b = 1) ignore nulls as f from t group by a
select a from t where exists (select any(k > 1) from u where u.a = t.a)
select a from t where not exists (select not any(k > 1) from u where u.a = t.a) or a > 1
select a from t group by a having count(*) > 1 and any(b > 1)
select b from t group by b having count(*) > 0 and (any(b > 1) or b < 0)
select a, true = any(b > 1) as y, any(b > 1) = false as z from t group by a
select a, sum(null) as x, avg(null) as y, max(null) as z, min(null) as u, count(null) as n from t group by a
select a, max_by(b, n) filter (where b > 1) as m from t where n is not null group by a
select a, named_struct('p', a, 'q', b).q as q from t
select q.m.p, q.m.q from (select named_struct('p', a, 'q', b) as m from t) q
select a <=> b as same, a is not distinct from b as same2, a is distinct from b as other from t
select a as k, sum(c) as v from t group by a having k > 1
select b + 1 as b, count(*) as n from t group by b having b > 1
select 'it''s' as q, "x" as r from t
select date_add(d, 1) as d1, d + interval '1' day as d2, datediff(d, d) as dd, date_trunc('month', d) as dt from t
select transform(array(a, b), i -> i + n) as m from t
select transform(array(b), A -> a + b) as x from t
select transform(array(1), a -> a + q.y) as x from (select a as y from t) q
select transform(array(1), a -> transform(array(b), B -> A + b + y)[0]) as x from (select a as y, b from t) q
select transform(array(named_struct('p', b)), T -> t.p + a) as m from t
select transform(array(1), t -> t + t1.a) as x from t as t1 join t as t2 on t1.a = t2.b
select zip_with(array(a), array(b), (B, A) -> b - a) as m, aggregate(array(a), 0, (a, b) -> a + b, a -> a * b) as g from t
select map_filter(map(coalesce(a, 0), b), (a, k) -> k > a) as m from t
select array_sort(array(a, b, 7), (b, a) -> case when a < b then -1 when a > b then 1 else 0 end) as m from t where a + b > 0
select mean(b) as x, mean(distinct a) as y from t
select listagg(s) as l, string_agg(s, '-') as m from (select s from t where s = 'x')
select count(*) as n from (select a, first(s) as f, first(b) as g from t group by a) q where not exists (select 1 from t where t.a <=> q.a and t.s <=> q.f and t.b <=> q.g)
select first(x, true) as f, last(x) ignore nulls as l, any_value(x, true) as v from (select max(a) as x from t)
select to_char(a, '99') as c, unix_date(d) as u, mod(a, b), ucase(s), lcase(s) from t where b > 0
select s, max_by(b + 1, b, 2) filter (where a > 1) as m, min_by(b, b, 2) filter (where a <> 2) as n from t group by s
select max_by(k, x, 2) as m from (select 1 as k, 2 as x union all select 3, 4)
select sum(a) as s, count(a) as n from values (null), (null) as v(a)
select window(d, '1 hour'), window.start as s from t
select window(d, '1 hour', '30 minutes').start as x, count(*) as n from t group by window(d, '1 hour', '30 minutes')
select a, window.start, count(*) as n from t group by a, window(d, '50 hours', '20 hours', '5 minutes') having window.end > timestamp'2024-01-01'
select a, w.start, window_time(w) as x from (select a, window(d, '1 week 2 days') as w, count(*) from t group by a, 2) q
select * from (select a, b, n from t) pivot (sum(n) as s, count(*) as c for b in (1 as one, 2))
select * from (select a, b, n from t) pivot (sum(n) for b in (1, 2, null))
select * from (select a, b, n from t) pivot (sum(n), count(*) for b in (1, 2, null as x))
select * from (select a, b, n, s from t) pivot (sum(n) for (b, s) in ((1, 'x') as one, (2, 'z')))
select * from (select a, b, n, s from t) pivot (sum(n) x, max(n + a) for (b, s) in ((1, 'x') as one, (2, 'z')))
select * from t pivot (count(1) for s in ('x', 'xy', 'z' zed))
select * from (select b, n from t) pivot (count(*) as c, sum(n) for b in (1, 7))
select * from (select b, n from t where n > 100) pivot (count(*) as c, sum(n) for b in (1, 7))
select p.one, p.a from (select a, b, n from t) pivot (count(*) for b in (1 as one)) p
select * from (select a, c, n from t) pivot (count(*) for c in (0.5, 3))
select * from (select a, b, n from t) pivot (sum(n) filter (where n > 1) as f for b in (1, 2))
select * from (select a, b, n, s from t) pivot (collect_list(s) as l for b in (1, 2))
select * from (select a, b, n from t) pivot (sum(n) as s, sum(n) for b in (1))
select * from (select a, b, n from t) pivot (count(distinct n) for b in ('1', 2L))
select * from (select a, b + 1 as b, n from t) pivot (max(n) as k for b in (-1, true))
select * from (select a, b, n from t) pivot (coalesce(sum(n), -1) as k for b in (1,5))
select * from (select a, b, n from t) pivot (sum(n*2) for b in (1,5)) where a > 1 order by a
select * from (select a, b, n from t) pivot (max(b) for b in (1,5))
select * from (select a, b, n from t) pivot (max(a) for b in (1,5))
select * from (select a, b, s from t) pivot (max(s) as m, count(*) as c for b in (1, 2, 3))
select * from (select a, b, s from t) pivot (coalesce(max(s), '-') as m for b in (1, 2, 3))
select q.a, q.one from (select a, b, n from t) as p pivot (count(*) for b in (1 as one)) as q
select p.a, one from (select a, b, n from t) as p pivot (count(*) for b in (1 as one))
select * from (select a, k from u) q unpivot (v for c in (a, k as kk))
select * from t unpivot include nulls (v for k in (a, b))
select * from t unpivot exclude nulls ((v, w) for k in ((a, n) as x, (b, c)))
select z.k, z.v, z.w from t unpivot include nulls ((v, w) for k in ((a, s) as x, (b, s))) as z
select k, sum(v) as sv from t unpivot (v for k in (a, b as bb, n, c)) where v > 0 group by k
select t.s, v from t unpivot (v for k in (a, b))
select a, stack(2, a, b, 3, 4) as (x, y) from t
select a, stack(2, a, b) from t
select a, stack(2, a, n, 3) as (x, y) from t
select a, json_tuple('{"p": 1, "q": null}', 'p', 'q', 'r') as (x, y, z) from t
select a, x, y from t lateral view json_tuple(concat('{"p": ', a, '}'), 'p', 'q') j as x, y
select a, json_tuple(s, 'p') from t
select a, inline_outer(array(struct(a, b))) as (x, y) from t
select a, inline_outer(filter(array(named_struct('p', a, 'q', b)), x -> x.p > 1)) from t
select a, explode_outer(filter(array(a), i -> i > 1)) as x from t
select a, posexplode_outer(filter(array(a, b), i -> i > 1)) as (p, x) from t
select a, posexplode_outer(filter(array(a, b), i -> i > 1)) from t
select t.a, x.* from t, lateral explode_outer(filter(array(a, b), i -> i > 1)) as x
select t.a, x.* from t, lateral inline_outer(filter(array(named_struct('p', a, 'q', b)), x -> x.p > 1)) as x
select * from range(10) as r(id)
select r.id + 1 as i, t.a from range(1, 10, 3) r join t on t.a = r.id
select * from range(5, 0, -2)
select id from range(3, 3)
select count(*) as n, sum(id) as s from range(100)
select * from explode(sequence(1, 5)) as s(i)
select * from explode(sequence(1, 5)) as s
select col from explode(array(1, 2, 3))
select * from stack(2, 1, 2, 3)
select x.c from stack(2, 1, 'x', 2, null) as x(c, d)
select i.p from inline(array(struct(1 as p, 2 as q))) i
select * from json_tuple('{"a": 3}', 'a') as j
select a, e.col from t lateral view outer posexplode_outer(filter(array(a), i -> i > 1)) e
select a, e from t lateral view explode_outer(filter(array(a), i -> i > 1)) q as e
select a, x.* from t lateral view inline_outer(filter(array(named_struct('p', a, 'q', b)), x -> x.p > 1)) x
select a, x, y from t lateral view explode(array(a, b)) p as x lateral view outer explode(filter(array(x, b), i -> i > 1)) q as y
select a, k, v from t lateral view explode(map('x', a, 'y', b)) q as k, v
select a, m.* from t, lateral (select explode(array(t.a, t.b)) as e) m
select a, m.* from t, lateral (select explode(array(t.a, t.b)) as e) m
select t.a, l.d from t, lateral (select t.b * 2 as d) l
select t.a, l.d, l2.e from t, lateral (select t.b * 2 as d) l, lateral (select l.d + t.a as e) l2
select t.a, l.d from t left join lateral (select t.b * 2 as d) l on true
select t.a, l.y from t, lateral (select u.x + t.b as y from u where u.k = t.a) l
select t.a, l.y from t, lateral (select u.x + t.b as y, t.a as ta from u join w on u.k = w.k and w.y > t.b where u.a = t.a) l
select t.a, l.y from t join lateral (select u.x as y from u where u.k = t.a) l on l.y > 1
select t.a, l.y from t, lateral (select t.a as y where t.b > 1) l
select t.a, l.y from t, lateral (select x.c + t.a as y from explode(array(t.a, t.b)) as x(c) where x.c > 1) l
select t.a, l.y from t, lateral (select u.x as y from u where u.k = t.a and exists (select 1 from w where w.k = u.k)) l
select l.* from t, lateral (select * from u where u.k = t.a) l
select t.a, l.y, l.z from t, lateral (select x as y, z from (select u.x, u.k as z from u where u.a > 0) q where q.z = t.a) l
select t.a, l.a as la from t, lateral (select a + 1 as a) l
select l.x from lateral (select 1 as x) l
select t.a, l.y from t left join lateral (select u.x + t.b as y from u where u.a = t.a) l
select t.a, l.y, l.z from t left join lateral (select u.x as y, t.b as z from u where u.a = t.a and u.x > t.b) l on true
select t.a, l.y from t left join lateral (select u.x as y from u where u.a = t.a) l on l.y > t.b
select t.a, l.y from t left join lateral (select u.x - t.b as y from u where u.a = t.a) l on l.y > 0 and t.b < 3
select t.a, l.k, l.m from t left join lateral (select u.k, max(u.x) + t.b as m from u where u.a = t.a group by u.k) l on true
select t.a, l.k, l.m from t, lateral (select u.k, max(u.x) + t.b as m, count(*) as n from u where u.a = t.a group by u.k having count(*) > 0) l
select t.a, l.m from t, lateral (select u.k, sum(u.x + t.b) as m from u where u.a = t.a group by u.k) l
select t.a, l.m from t, lateral (select distinct u.x + t.b as m from u where u.a = t.a) l
select t.b, l.m, count(*) as n from t left join lateral (select u.x * t.b as m from u join w on u.k = w.k where w.y > t.b) l group by t.b, l.m
select t.a, x.* from t left join lateral posexplode(filter(array(a, b), i -> i > 1)) as x on true
select t.a, x.p, x.q from t left join lateral inline(filter(array(named_struct('p', a, 'q', b)), x -> x.p > 1)) as x on true
select t.a, x.e from t left join lateral explode(filter(array(a, b), i -> i > 1)) as x(e) on true
select a, percentile_disc(0.5) within group (order by b) as p from t group by a
select percentile_disc(array(0.2, 0.5)) within group (order by b desc) as p from t
select percentile_cont(0.3) within group (order by b desc) as p, percentile_cont(0.3) within group (order by b) as q, percentile(b, 0.7) as r from t
select mode() within group (order by b) as p, mode() within group (order by b desc) as q, mode(b, true) as r from t
select listagg(s, ',') within group (order by s desc) as p, listagg(distinct s, ',') within group (order by s) as q from t
select listagg(s, '') within group (order by b desc, s, n) as p, listagg(s) within group (order by s) as q from t
select percentile_disc(0.5) within group (order by b) filter (where a > 1) as p, mode() within group (order by b) filter (where a < 2) as m from t
select * from (select a, a as v, s from t) pivot (first(v) as f, any_value(v) filter (where v > 1) as g for s in ('x', 'z' as z))
select * from (select s, s as v, b from t) pivot (first(v) as f, last(v) as l for b in (1, 2))
select a, first_value(b) filter (where s = 'x') ignore nulls over (partition by a order by b, c, s, d, n) as f from t
select a, percentile_disc(0.5) within group (order by b) over (partition by a) as p from t
select a, percentile_cont(0.5) within group (order by b) over (partition by a) as p from t
select a, percentile_disc(0.5) within group (order by b + 1 desc) + 1 as p from t group by a having percentile_disc(0.9) within group (order by n) > 0
select a, (select percentile_disc(0.5) within group (order by x) from u where u.a = t.a) as p from t
select q.st.* from (select named_struct('x', a, 'y', b) as st from t) q
select st.*, 1 as o from (select named_struct('x', a, 'y', b) as st, a from t) q
select datediff(MONTH, date'2024-01-01', d) as mm, datediff(d, date'2024-01-01') as x, timestampdiff(HOUR, timestamp'2024-01-01 00:00:00', d) as h from t
select extract(MONTH FROM INTERVAL '2021-11' YEAR TO MONTH) as m, extract(month from d) as n from t
select a | b ^ a & b << 1 as f, a + b << 1 as g, n >>> 1 + a as h, '1' || a + 1 as i, ~mod(n, 4) as j, 2 * mod(n, 5) as k, mod(a, b + 1) from t
select a > 1 = rlike(s, 'x') as f, 'v' || regexp_like(s, 'z') as g, not ilike(s, 'X%') = true as h, like(s, 'x') is null as i from t
select c / 3L as f, c * -7S as g, c + 12Y as h, 2L / (c + 1) as i, -9223372036854775808L as j, -2147483648 as k, a + 4L, -3S from t
select date_format(d, "d 'of the year' y") as f, date_format(d, 'E y') as g, to_timestamp('1/2024', 'M/y') as h, unix_timestamp(d, 'y') as i, from_unixtime(n, "y'd'") as j, date_trunc('M', d) as k, trunc(d, 'Y') as l, date_trunc('MON', d) as m from t
select get_json_object('{"a":{"b":1},"c":2}', '$.a.*') as f, get_json_object('{"a":{"b":1},"c":2}', '$.*') as g, get_json_object('{"a b":2}', "$['a b']") as h, sequence(timestamp'2024-01-01 01:00:00', date'2024-01-03', interval 1 day) as i, sequence(d, date'2024-03-01') as j from t
select t.a, percentile(b, 0.5, k) as f, percentile(b, 0.5, k) filter (where b > 1) as g, percentile(distinct b, 0.5) as h, max((u.x, u.a)).a as i from t join u on t.a = u.a where k > 0 group by t.a
select to_json(struct(a = b, s)) as f, to_json((a, b + 1, t.s)) as g, to_json(struct(map('x', a)['x'], array(named_struct('y', b))[0].y, map(1, 2)[1])) as h, (a, b) as i, array((a, s)) as j from t where (a, b) in ((1, 1), (2, 3)) or (a, s) < (2, 'z')
select to_json(struct(*)) as j, to_json(arrays_zip(l, m, array(1))) as z, to_json(transform(array(l), x -> arrays_zip(x))) as y, l as g from (select a, b as p, array(a) as l, transform(array(b), x -> x + 1) as m from t)
select to_json(struct(q.*, t.a)) as j, t.b from t join (select a as b, k + 1 as k from u) q on q.b = t.b
select a, named_struct('p', -st.p) as st from (select a, named_struct('p', b) as st from t) q order by st.p desc, q.st.p, a limit 4
select count(*) as n from (select max_by(a, d) as f, max_by(b, d) as g, min_by(b, d) filter (where n > 1) as h, min_by(c, d) filter (where n > 1) as i from t where d is not null group by s) q where not exists (select 1 from t where t.a <=> q.f and t.b <=> q.g) or (not h is null and not i is null and not exists (select 1 from t where t.b = h and t.c = i))
select count(*) as n from (select first(a) over (partition by s) as f, first(b) over (partition by s) as g, max_by(b, d) over (partition by s order by d) as h, max_by(c, d) over (partition by s order by d) as i from t where d is not null) q where not exists (select 1 from t where t.a <=> q.f and t.b <=> q.g) or not exists (select 1 from t where t.b <=> h and t.c <=> i)
""".strip().splitlines()

RECURSIONS = """
with recursive r(i) as (select 1 union all select i + 1 from r where i < 5) select i from r
with recursive r as (select a, k, 0 as depth from u union all select r.a, u.k, depth + 1 from r join u on r.k = u.a and depth < 2) select * from r
with recursive r(i) as (select a from t where b > 1 union all select i - 1 from r where i > 0) select i, count(*) as n from r group by i
with recursive r(i) as (select k from w where y = 1 union all select i + b from r join t on t.a = r.i and t.b > 0 and r.i < 3) select distinct i from r
with recursive r(i) as (select 1 union all select i + 1 from r where i < 4) select p.i, q.i as j from r p join r q on p.i = q.i + 1
with recursive r(i, p) as (select a, s from t where a = 0 union all select i + 1, p || '.' from r where i < 3) select t.b, r.p from t left join r on r.i = t.a
with recursive r(i) as (select 1 union all select i + 1 from r where i < 6), q(j) as (select i from r where i > 4 union all select j - 1 from q where j > 0) select j from q
with recursive r(i) as (select a from t union all (select i + 1 from r where i < 3 union all select i + 2 from r where i < 2)) select i from r
with recursive r(i) as (select a from t where a < 2 union all select i + 1 from r where i < 4 and exists (select 1 from u where u.a = r.i)) select i from r
select q.i, u.x from (with recursive r(i) as (select 0 union all select i + 1 from r where i < 3) select i from r) q join u on u.a = q.i
with recursive t(a) as (select k from u union all select a + 1 from t where a < 3) select a from t
""".strip().splitlines()

QUERIES = (*ROWS, *JOINS, *GROUPS, *SUBQUERIES, *SETS, *WINDOWS, *LIMITS, *RECURSIONS)

# Queries that tell the time. Each has one right result at every instant.
CLOCK = """
select a, (select max(x) > year(current_date()) from u where u.a = t.a) as v, (select count(*) + day(current_date()) from u where u.a = t.a) as n from t
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
