"""Odd but legal queries over the tables of ``queries``: names, nesting, precedence, implicit casts, literals."""

from __future__ import annotations

ODD = r"""
select `a` as `select`, b as `from` from t
select a as `a b`, b as `ünï` from t
select `a b` + 1 as `x.y` from (select a as `a b` from t)
select q.`x.y` from (select a as `x.y` from t) q
with t as (select a + 1 as a from t) select * from t
with t as (select 1 as a) select t.a, u.k from t join u on t.a = u.a
with x as (select a from t), y as (select a from x where a > 1) select x.a, y.a as b from x left join y on x.a = y.a
with x as (with x as (select 1 as i) select i + 1 as i from x) select i from x
with u as (select 5 as k) select (select max(k) from u) as m, a from t
select * from (with z as (select a from t) select a from z) q
select a from t where a in (with z as (select k from u) select k from z)
select case when exists (select 1 from u where u.a = t.a) then (select max(x) from u where u.a = t.a) else -1 end as m from t
select case a when 1 then 'one' when 2 then 'two' else 'many' end as w from t
select case when a in (select k from u) and b > 1 then 1 when not exists (select 1 from w where w.k = t.a) then 2 end as c from t
select a, case (select count(*) from u where u.k = t.a) when 0 then 'none' else 'some' end as c from t
select k, a, x, z, y from u join w using (k) join (select distinct a from t) q using (a)
select * from t join u using (a) left join w using (k)
select a, k from t natural join u
select * from u natural left join w
select a, count(*) as n from t join u using (a) group by a
select u.a, w.k from u right join w using (k) where k > 1
select k, u.k as uk, w.k as wk from u full join w using (k)
select a as b, count(*) as n from t group by a
select count(*) as n from t having count(*) > 100
select sum(a) as s from t having sum(a) is not null
select 1 as one from t having max(a) > 1
select a from t group by a having count(*) > 1 and sum(b) > (select min(k) from u)
select a from t union select k from u intersect select y from w
(select a from t union select k from u) intersect select y from w
select a from t except select k from u union all select y from w
select a from t union all (select k from u except select y from w)
select a, 'x' as s from t union all select null, s from t
select a from t union select cast(k as bigint) from u
select a from t union all select x from u
select c from t union all select x from u
select a from t union all select 1.5
select d from t union all select cast('2024-01-01 10:00:00' as timestamp)
select a from t union all select cast(k as double) from u
select s from t union all select cast(a as string) from t
select null as a union all select a from t
select * from values (1, 'a'), (2, 'b') as v(i, s)
select * from values (1), (2.5), (null) as v(i)
select * from values (1, null), (null, 2L) as v(i, j)
select * from values (date'2024-01-01'), (timestamp'2024-01-02 00:00:00') as v(t)
select * from values (array(1, 2)), (array(3)) as v(l)
select * from values (named_struct('a', 1, 'b', 'x')) as v(s)
select * from values (map('a', 1)) as v(m)
select v.i * t.a as p from values (1), (10) as v(i), t
values (1, 2), (3, 4)
select col1 + col2 as s from values (1, 2), (3, 4)
select a from t where a in (1, null, 3)
select a from t where a not in (1, null, 3)
select a in (1, null) as i, a not in (1, 2) as j, null in (1) as k from t
select a from t where (a, b) in ((1, 2), (2, 3))
select a from t where a not in (select k from u where k is not null) and b is not null
select s like 'x!%' escape '!' as l, s not like 'x%' as m, s ilike 'X%' as n from t
select s like any ('x%', '%z') as y, s like all ('x%', '%y') as z from t
select d + interval 1 month as m, d - interval '2' day as n, d + interval '1-2' year to month as y from t
select d + interval 90 minutes as m, d - d as z, date_add(d, a) as w from t
select timestamp'2024-03-31 01:30:00' + interval 1 hour as ts, date'2024-01-31' + interval 1 month as e
select extract(year from d) as y, date_part('month', d) as m, extract(dow from d) as w, dayofweek(d) as v from t
select named_struct('x', a, 'y', named_struct('z', b)).y.z as z from t
select st.x, st.y.z from (select named_struct('x', a, 'y', named_struct('z', b)) as st from t) q
select q.st.* from (select named_struct('x', a, 'y', b) as st from t) q
select map('k', a)['k'] as k, map('k', a)['z'] as z, element_at(map('k', b), 'k') as e from t
select array(a, b)[0] as f, array(a, b)[1] as g, element_at(array(a, b), -1) as l, size(array(a, b)) as n, array_contains(array(a, b), 1) as c from t
select m.v from (select struct(a as v, b) as m from t) q where m.b > 1
select struct(a, b) as st, struct(a, b).col1 as c1 from t
select struct(a, b).a as c1 from t
select arr.x from (select array(named_struct('x', a), named_struct('x', b)) as arr from t) q
select cast('12' as int) + a as i, '12' + a as j, int('3') as k, a :: string as st from t
select t.a, u.a as ua from t t, u u where t.a = u.a and t.b in (select k from w where w.y = u.k)
select x.a, y.a as b, z.a as c from t x join t y on x.a = y.a join t z on y.b = z.b
select sum(case when a > 1 then 1 end) / count(*) as r, count(case when b = 1 then 1 end) as c from t
select a, max(struct(b, n)).n as top from t group by a
select grouping(a) as g, a, count(*) as n from t group by rollup(a)
select a, b, grouping_id() as g, sum(n) as s from t group by grouping sets ((a, b), (a), ())
select a from t qualify count(*) over (partition by a) > 1
select x, count(*) as n from (select a as x from t union all select k from u) group by x having count(*) > 1
select l.a, r.k from t l left join (select k, a from u where x > 1) r on l.a = r.a and r.k = 1
select a, x from t left outer join u using (a) where coalesce(x, 0) = 0
select count(distinct a, b) as x, count(distinct case when a > 1 then b end) as y from t
select to_json(struct(a, b)) as j, from_json('{"a":1}', 'a int').a as f, get_json_object('{"a":1}', '$.a') as g from t
select a as b, b + 1 as c from t
select split(s, '') as sp, regexp_replace(s, 'x', 'q') as rr, regexp_extract(s, '(x)', 1) as re, instr(s, 'y') as i, lpad(s, 3, '*') as lp, repeat(s, 2) as rp, reverse(s) as rv from t
select sequence(1, 3) as sq, array_repeat(a, 2) as ar, flatten(array(array(a), array(b))) as fl, slice(array(1,2,3), 2, 2) as sl from t
select case when a > 0 then a end as `case`, a as `end` from t
select array(1, 2.5, null) as l, array() as e, map() as m, struct() as s
select make_date(2024, a, 1) as md, d::timestamp as ts, cast(d as string) as ds from t where a between 1 and 3
select x'1F' as b1, hex(x'1F') as h, cast('ab' as binary) as b2, base64(cast('ab' as binary)) as b3
select a, b from t lateral view explode(array(1, 2)) e as x where x > 1 group by a, b
select a, b, sum(c) as s from t group by a, b with cube
select coalesce(cast(a as string), 'all') as g, sum(b) as s from t group by a with rollup
select date_sub(d, 1) as x, d - 1 as y, d + 1 as z, d - date'2024-01-01' as w from t
select cast(d as timestamp) - interval 1 day as x, cast(d as timestamp) + interval '1 02:03:04' day to second as y from t
select try_divide(a, 0) as x, nullif(a, a) as y, nanvl(cast('NaN' as double), 1.0) as z, isnan(cast(a as double)) as w from t
select first.a, last.b from (select a from t) first, (select b from t) last where first.a = last.b
select -a * -b as m, a - -b as s, a - b - n as q, a - (b - n) as r, a / b / 2 as v, a / (b / 2) as w, (a + b) * n as u from t where b > 0
select a = b = true as x, (a = b) is null as y, not a = b as z, a < b = (b > a) as w from t
select 10 % 3 * 2 as x, 2 + 3 * 4 - 1 as y, (2 + 3) * 4 as z, 7 div 2 * 2 as w, 1 | 2 & 3 as v, 5 & 1 + 1 as u from t
select s || a + b as x, 'n' || (a + b) as y from t where s = '1'
select cast(null as int) + a as x, null = null as y, null and false as z, null or true as w, coalesce(null, null, a) as v from t
select count(null) as x, sum(cast(null as int)) as y, max(null) as z, avg(cast(null as decimal(5,2))) as w from t
select interval '1' day as i, interval 1 year 2 months as j, interval '1 12:00' day to minute as k from t
select make_interval(0, 0, 0, 1) is null as i, extract(day from interval '5' day) as j from t
select a as `t.a`, t.a as b from t
select `t`.`a`, t.`b` from `t`
select a as select_, b as group_ from t group by a, b having group_ > 1
select first_value(b) over (partition by a order by b, c, s, d, n) as f, last_value(b) ignore nulls over (partition by a order by b, c, s, d, n rows between unbounded preceding and unbounded following) as l from t
select lag(b, 2, 0) over (order by a, b, c, s, d, n) as l, lead(b) ignore nulls over (order by a, b, c, s, d, n) as m from t
select sum(a) over (order by b rows 1 preceding) is null as x, count(*) over (partition by a, b) as y from t where a = 100
select collect_list(a) over (partition by b order by a) is null as x, sum(a) filter (where b > 1) over (partition by b) as y from t
select if(a > 1, 1, 2.5) as x, case when a > 1 then 1 else '5' end as y, greatest(a, 1.5) as z, coalesce(a, '7') as w from t
select nvl(s, a) as x, array(a, '1') as y, a in ('1', '2') as z, a between '1' and '2' as w, s > 1 as v from t where s is null
select cast(c as bigint) as x, cast(c as string) as y, cast(s as binary) as z, cast(true as int) as w, cast('true' as boolean) as v, boolean(a) as u from t
select decimal(a) as x, cast(a as decimal) as y, double(c) as z, string(c) as w, float(c) as v, date('2024-01-01') as u, timestamp('2024-01-01') as ts from t
select t.a, count(*) as n from t, lateral (select u.k from u where u.a = t.a) l group by t.a
select * from (select a, b from t) pivot (count(*) for b in (1, 2)) unpivot (v for k in (`1`, `2`))
""".strip().splitlines()
