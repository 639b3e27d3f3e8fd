"""The constructs that views may use, by topic: one example of each, over the tables below.

A line of a topic is name | strategy of a batch in which every table changed | query. A name that ends with † is of a
query that DuckDB cannot run, or not as Spark does: ``test_on_spark`` maintains it.
"""

# Long because it is one list.

from __future__ import annotations

from dataclasses import dataclass

from ivm_core.cost.model import Strategy
from ivm_core.plan.schema import TableSchema
from tests.plan import queries

SPARK_ONLY = "†"
# Views that other views read: what they show is a table to those.
UPSTREAM = {
    "shop.big": "select a, b, s from t where b > 1",
    "shop.totals": "select s, sum(b) as total, count(*) as n from t group by s",
    "shop.firsts": "select a, b, s from t order by a, b, s limit 3",
}
TABLES = {
    **queries.TABLES,
    **{
        schema.name: schema
        for schema in (
            TableSchema(
                "shop.o",
                (("k", "int"), ("st", "struct<p:int,q:string>"), ("l", "array<int>"), ("h", "binary"), ("f", "double")),
            ),
            TableSchema("shop.doc", (("k", "int"), ("m", "map<string,int>"), ("v", "variant"))),
            TableSchema("shop.big", (("a", "int"), ("b", "int"), ("s", "string"))),
            TableSchema("shop.totals", (("s", "string"), ("total", "bigint"), ("n", "bigint"))),
            TableSchema("shop.firsts", (("a", "int"), ("b", "int"), ("s", "string"))),
        )
    },
}
# Functions that a user registered: of a row in Python and in SQL, and of a group.
AGGREGATE_FUNCTIONS = ("middle",)


@dataclass(frozen=True)
class Construct:
    """A line of the page: what it is, the strategy of a batch in which every table changed, and an example."""

    name: str
    strategy: Strategy
    sql: str

    @property
    def on_spark_only(self) -> bool:
        """Whether DuckDB cannot run it."""
        return self.name.endswith(SPARK_ONLY)


_ROWS = """
filter | incremental | select a, s from t where b > 1 and s like 'x%'
computed columns | incremental | select a + b as p, coalesce(s, '-') as q, case when a > 1 then 1 end as r from t
lateral column alias | incremental | select a + b as p, p * 2 as q from t
LIKE ANY, LIKE ALL | incremental | select a, s from t where s like any ('x%', '%z') and not s like all ('x%', '%y')
star EXCEPT | incremental | select * except (c, d, n) from t
star REPLACE, written with EXCEPT | incremental | select * except (a), a + 1 as a from u
names with spark_catalog | incremental | select spark_catalog.shop.t.a from spark_catalog.shop.t where spark_catalog.shop.t.b > 1
columns called any, for, minus, values | incremental | select for, max(values) as m from (select a as for, b as values, c as minus from t) q where minus > 1 group by for
VALUES | incremental | select v.i, v.j from values (1, 'x'), (2, 'z') as v(i, j)
TABLE | incremental | table u
pipe syntax | incremental | from t |> where b > 1 |> join u on t.a = u.a |> aggregate sum(b) as total group by s |> where total > 2
WITH | incremental | with big as (select a, b from t where b > 1) select big.a, u.k from big join u on big.a = u.a
WITH, read twice | incremental | with q as (select a, b from t where b > 1) select x.a, y.b from q x join q y on x.a = y.b
WITH RECURSIVE | affected | with recursive r as (select k, 1 as depth from w where k = 1 union all select r.k, depth + 1 from r where depth < 3) select k, depth from r
"""

_JOINS = """
inner join | incremental | select t.a, u.k from t join u on t.a = u.a
join of several tables | incremental | select t.s, u.k, w.y from t join u on t.a = u.a join w on u.k = w.k
self join | incremental | select x.a, y.b from t as x join t as y on x.a = y.b
cross join | incremental | select t.s, w.z from t cross join w
join by inequality | incremental | select t.a, u.k from t join u on t.a < u.a
USING | incremental | select a, t.s, u.k from t join u using (a)
NATURAL JOIN | incremental | select k, x, y, z from u natural join w
left join | affected | select t.a, u.k from t left join u on t.a = u.a
right join | affected | select t.a, u.k from t right join u on t.a = u.a
full join | affected | select t.a, u.k from t full join u on t.a = u.a
outer joins in a chain | affected | select t.a, u.k, w.y from t left join u on t.a = u.a full join w on u.k = w.k
outer join over an inner join | affected | select t.a, u.k, w.y from t join u on t.a = u.a left join w on u.k = w.k
inner join over an outer join | affected | select t.a, u.k, w.y from t left join u on t.a = u.a join w on coalesce(u.k, 1) = w.k
outer join to an inner join | affected | select t.a, u.k, w.y from t left join (u join w on u.k = w.k) on t.a = u.a
outer join by inequality | affected | select t.a, u.k from t left join u on t.a < u.a
full join by several conditions | affected | select t.a, u.k from t full join u on t.a <= u.a and t.b = u.k
outer join by OR | affected | select t.a, u.k from t left join u on t.a = u.a or t.b = u.k
outer join below an aggregate | incremental | select u.k, sum(t.c) as total, count(t.a) as n from u left join t on t.a = u.a group by u.k
outer join below count(*) | affected | select u.k, count(*) as n from u left join t on t.a = u.a group by u.k
outer join over an aggregate | affected | select u.k, q.n from u left join (select a, count(*) as n from t group by a) q on u.a = q.a
outer join that a filter makes inner | incremental | select t.a, u.k from t left join u on t.a = u.a where u.k > 1
subquery in ON of an outer join | affected | select t.a, u.x from t left join u on t.a = u.a and u.k in (select k from w)
LEFT SEMI JOIN, LEFT ANTI JOIN | affected | select a, b from t left semi join u using (a) left anti join w on t.b = w.k
"""

_SUBQUERIES = """
EXISTS | affected | select a, s from t where exists (select 1 from u where u.a = t.a)
NOT EXISTS | affected | select a, s from t where not exists (select 1 from u where u.a = t.a)
EXISTS by inequality | affected | select a, s from t where exists (select 1 from u where u.a < t.a and u.x > t.c)
EXISTS without correlation | affected | select a, s from t where exists (select 1 from u where k > 2)
IN (subquery) | affected | select a, s from t where a in (select a from u)
IN of several columns | affected | select a, b from t where (a, b) in (select a, k from u)
NOT IN (subquery) | affected | select a, s from t where a not in (select a from u)
IN or another condition | affected | select a, b from t where a in (select k from u) or b = 1
NOT over IN and AND | affected | select a, b from t where not (a in (select k from u) and b = 1)
EXISTS and NOT EXISTS | affected | select a, b from t where exists (select 1 from u where u.a = t.a) and not exists (select 1 from w where w.k = t.b)
EXISTS over UNION ALL | affected | select a, s from t where exists (select 1 from u where u.a = t.a union all select 1 from w where w.k = t.a)
NOT EXISTS over EXCEPT | affected | select a, s from t where not exists (select k from u where u.a = t.a except select y from w where w.k < t.b)
IN over UNION | affected | select a, s from t where b in (select k from u where u.a = t.a union select y from w where w.k = t.n)
NOT IN over UNION ALL | affected | select a, s from t where b not in (select k from u where u.a = t.a union all select y from w where w.y > t.a)
EXISTS over WITH | affected | select a, s from t where exists (with q as (select k from u where u.a = t.a) select 1 from q where k > 1)
EXISTS of an aggregate by HAVING | affected | select a, s from t where exists (select 1 from u where u.a = t.a having count(*) > 1)
EXISTS or IN | affected | select a, b from t where exists (select 1 from u where u.a = t.a) or a in (select k from w)
EXISTS as a value | affected | select a, exists (select 1 from u where u.a = t.a) as found from t
= ANY, written with IN | affected | select a, b from t where b in (select k from u where u.a = t.a)
> ANY, written with EXISTS | affected | select a, b from t where exists (select 1 from u where t.b > u.k)
> ALL, written with NOT EXISTS | affected | select a, b from t where not exists (select 1 from u where not coalesce(t.b > u.k, false))
scalar subquery | affected | select a, (select max(k) from u) as m from t
scalar subquery in WHERE | affected | select a, b from t where b > (select avg(k) from u)
scalar subquery in HAVING | affected | select a, sum(c) as total from t group by a having sum(c) > (select avg(x) from u)
scalar subquery of rows | affected | select a, (select distinct k from u where k = 2) as m from t
correlated scalar subquery | affected | select a, (select sum(u.x) from u where u.a = t.a) as m from t
correlated scalar subquery in WHERE | affected | select a, b from t where b > (select avg(k) from u where u.a = t.a)
correlated scalar subquery in HAVING | affected | select a, sum(c) as total from t group by a having sum(c) > (select avg(x) from u where u.a = t.a)
correlated scalar subquery by inequality | affected | select a, (select count(*) from u where u.a < t.a) as m from t
correlated scalar subquery over an aggregate | affected | select a, (select q.n + w.y from (select count(*) as n from u where u.a = t.a) q join w on w.k = q.n order by w.y limit 1) as m from t
LATERAL | incremental | select t.a, l.x from t, lateral (select u.x from u where u.a = t.a and u.k > 1) l
LATERAL with an aggregate | affected | select t.a, l.m from t, lateral (select max(x) as m from u where u.a = t.a) l
LATERAL with UNION ALL | incremental | select t.a, l.k from t, lateral (select u.k from u where u.a = t.a union all select w.y from w where w.k = t.a) l
LATERAL with LIMIT | affected | select t.a, l.x from t left join lateral (select u.x from u where u.a = t.a order by u.x desc, u.k limit 2) l
"""

_AGGREGATES = """
count, sum, avg of exact types | incremental | select s, count(*) as n, sum(c) as total, avg(c) as mean from t group by s
avg of an integer | incremental | select s, avg(a) as mean from t group by s
avg of a BIGINT | affected | select s, avg(n) as mean from t group by s
sum and avg of DOUBLE | affected | select k, sum(f) as total, avg(f) as mean from o group by k
min, max | incremental | select s, min(a) as low, max(b) as high from t group by s
bool_and, bool_or, every, count_if | incremental | select s, bool_and(b > 1) as x, bool_or(b > 1) as y, every(a > 0) as z, count_if(a > 1) as n from t group by s
first, last, any_value | incremental | select s, first(a) as f, last(a) as l, any_value(b) as v from t group by s
FILTER | incremental | select s, count(*) filter (where a > 1) as n, first(b) filter (where a > 1) as f from t group by s
HAVING | incremental | select s, count(*) as n from t group by s having count(*) > 1
HAVING EXISTS by an aggregate | affected | select a, count(*) as n from t group by a having exists (select 1 from u where u.a = t.a and u.k < max(t.b))
aggregate without GROUP BY | incremental | select count(*) as n, sum(c) as total from t
aggregate over an aggregate | affected | select m, count(*) as n from (select s, max(a) as m from t group by s) group by m
bit_and, bit_or, bit_xor | affected | select s, bit_and(a) as x, bit_or(a) as y, bit_xor(a) as z from t group by s
min_by, max_by | affected | select s, min_by(b, a) as low, max_by(b, a) as high from t group by s
count(DISTINCT) | affected | select s, count(distinct a) as n from t group by s
sum(DISTINCT) | affected | select s, sum(distinct a) as total from t group by s
several DISTINCTs | affected | select s, count(distinct a) as p, sum(distinct b) as q, count(distinct a, b) as r from t group by s
variance, stddev | affected | select s, variance(a) as v, stddev_pop(b) as d from t group by s
skewness, kurtosis | affected | select s, skewness(a) as v, kurtosis(a) as w from t group by s
corr | affected | select case when min(a) < max(a) and min(b) < max(b) then corr(a, b) end as r from t where a is not null and b is not null
covar_pop, covar_samp | affected | select s, covar_pop(a, b) as p, covar_samp(a, b) as q from t group by s
regr_* | affected | select s, regr_count(a, b) as n, regr_sxy(a, b) as p, regr_avgx(a, b) as q from t group by s
percentile, percentile_cont | affected | select s, percentile(a, 0.25) as p, percentile_cont(0.5) within group (order by b) as q from t group by s
percentile_disc † | affected | select s, percentile_disc(0.5) within group (order by b desc) as p from t group by s
median | affected | select s, median(a) as m from t group by s
mode | affected | select s, mode(a) as m from t group by s
approx_percentile † | affected | select s, approx_percentile(a, 0.5) as m from t group by s
collect_list, array_agg | affected | select s, array_agg(a) as l from t where a is not null group by s
collect_set | affected | select s, sort_array(collect_set(a)) as l from t where a is not null group by s
listagg, string_agg | affected | select a, listagg(s, ',') within group (order by s) as l, string_agg(distinct s, '-') within group (order by s) as m from t group by a
approx_count_distinct | affected | select s, approx_count_distinct(a) as n from t group by s
HyperLogLog sketches † | affected | select s, hll_sketch_estimate(hll_sketch_agg(a)) as n from t group by s
Theta sketches † | affected | select s, theta_sketch_estimate(theta_sketch_agg(a)) as n from t group by s
count-min sketches † | affected | select s, hex(count_min_sketch(a, 0.5d, 0.5d, 1)) as c from t group by s
bitmaps † | affected | select s, bitmap_count(bitmap_construct_agg(bitmap_bit_position(a))) as n from t group by s
histogram_numeric † | affected | select s, to_json(histogram_numeric(a, 3)) as h from t group by s
max of a struct | affected | select s, max(struct(a, b)) as m from t group by s
try_sum, try_avg † | affected | select s, try_sum(a) as total, try_avg(b) as mean from t group by s
"""

_GROUPING = """
GROUP BY expressions | incremental | select a % 2 as par, year(d) as y, count(*) as n from t group by a % 2, year(d)
GROUP BY ALL | incremental | select s, b, sum(c) as total from t group by all
GROUP BY ordinals | incremental | select s, b + 1 as p, sum(c) as total from t group by 1, 2
time windows † | incremental | select window(d, '2 days').start as day, count(*) as n from t group by window(d, '2 days')
ROLLUP | affected | select s, b, sum(c) as total from t group by rollup (s, b)
CUBE | affected | select s, b, sum(c) as total from t group by cube (s, b)
GROUPING SETS | affected | select s, b, count(*) as n from t group by grouping sets ((s), (b), ())
GROUPING(), GROUPING_ID() | affected | select s, b, grouping(s) as g, grouping_id(s, b) as i, sum(c) as total from t group by rollup (s, b)
"""

_SETS = """
UNION ALL | incremental | select a, s from t union all select k, z from w
UNION | incremental | select a from t union select a from u
INTERSECT | affected | select a from t intersect select a from u
INTERSECT ALL | affected | select a from t intersect all select a from u
EXCEPT | affected | select a from t except select a from u
EXCEPT ALL | affected | select a from t except all select a from u
DISTINCT | incremental | select distinct a, s from t
"""

_WINDOWS = """
ranking | affected | select a, rank() over (partition by s order by b) as r, dense_rank() over (partition by s order by a desc) as d from t
row_number, ntile | affected | select a, row_number() over (partition by s order by a, b, c, d, n) as r from t
lag, lead | affected | select a, lag(b) over (partition by s order by a, b, c, d, n) as l, lead(b, 2, 0) over (partition by s order by a, b, c, d, n) as m from t
first_value, nth_value | affected | select a, first_value(b) ignore nulls over (partition by s order by a, b, c, d, n) as f, nth_value(b, 2) over (partition by s order by a, b, c, d, n) as g from t
percentile_cont in a window | affected | select a, percentile_cont(0.5) within group (order by b) over (partition by s) as p from t
frame of ROWS | affected | select a, sum(b) over (partition by s order by a, b, c, d, n rows between 1 preceding and 1 following) as x from t
frame of RANGE | affected | select a, sum(b) over (partition by s order by a range between 1 preceding and current row) as x from t
several windows | affected | select a, rank() over (partition by s, a order by b) as r, sum(b) over (partition by s) as x from t
window without PARTITION BY | affected | select a, rank() over (order by b) as r from t
window over a join | affected | select t.s, u.k, rank() over (partition by t.s order by u.k) as r from t join u on t.a = u.a
window over groups | incremental | select s, sum(c) as total, rank() over (order by sum(c) desc) as r from t group by s
QUALIFY | affected | select a, b, s from t qualify row_number() over (partition by s order by a, b, c, d, n) <= 2
ORDER BY without LIMIT | incremental | select a, b from t order by a
ORDER BY with LIMIT | incremental | select a, b, s from t order by a, b, s limit 3
ORDER BY with LIMIT and OFFSET | incremental | select a, b, s from t order by a, b, s limit 2 offset 1
LIMIT of an expression | incremental | select a, b, s from t order by a, b, s limit 2 * 2 + 1
ORDER BY with LIMIT over groups | incremental | select s, sum(b) as total from t group by s order by total, s limit 2
"""

_GENERATORS = """
explode | incremental | select a, e from t lateral view explode(array(a, b)) g as e
explode of a column | incremental | select k, e from o lateral view explode(l) g as e
EXISTS over explode | affected | select k, l from o where exists (select 1 from explode(o.l) as x(e) join u on u.k = x.e)
explode of an aggregate | affected | select s, explode(collect_set(a)) as e, count(*) as n from t group by s
LATERAL VIEW OUTER | incremental | select k, e from o lateral view outer explode(filter(l, i -> i > 1)) g as e
posexplode | incremental | select a, p, e from t lateral view posexplode(array(a, b)) g as p, e
inline | incremental | select a, x, y from t lateral view inline(array(named_struct('p', a, 'q', s))) g as x, y
explode of a map † | incremental | select k, e.key, e.value from doc lateral view explode(m) e
stack | incremental | select a, stack(2, a, n, b, 3) as (x, y) from t
json_tuple † | incremental | select a, json_tuple(to_json(struct(a, s)), 'a', 's') as (x, y) from t
PIVOT | incremental | select * from (select a, s, b from t) pivot (sum(b) for s in ('x' as x, 'z' as z))
UNPIVOT | incremental | select s, name, value from (select s, a, b from t) unpivot (value for name in (a, b))
UNPIVOT INCLUDE NULLS | incremental | select s, name, value from (select s, a, b from t) unpivot include nulls (value for name in (a, b))
"""

_TYPES = """
struct | incremental | select k, st, st.p as p from o
struct of a struct's fields | incremental | select k, struct(st.*, k) as x from o
struct as a key | incremental | select st, count(*) as n from o group by st
struct as a join key | incremental | select x.k, y.k as other from o x join o y on x.st = y.st
array | incremental | select k, l, size(l) as n from o where l is not null
array as a key | incremental | select l, count(*) as n from o group by l
array as a partition | affected | select k, rank() over (partition by l order by k) as r from o
binary | incremental | select k, h, hex(h) as x from o
binary as a key | incremental | select distinct h from o
binary as a join key | affected | select x.k, y.k as other from o x left join o y on x.h = y.h
DOUBLE as a key | incremental | select f, count(*) as n from o group by f
map † | incremental | select k, m, m['x'] as x from doc
map as a key † | incremental | select m, count(*) as n from doc group by m
field of a variant † | incremental | select k, variant_get(v, '$.p', 'int') as p, to_json(v) as text from doc
field of a variant as a key † | incremental | select variant_get(v, '$.p', 'int') as p, count(*) as n from doc group by all
variant † | incremental | select k, v from doc
variants and maps in one another † | incremental | select k, array(struct(m as m, v as v)) as l, map(k, m) as n from doc where k is not null
join by the field of a map † | affected | select x.k, y.k as other, y.m from doc x left join doc y on y.m['x'] = x.k
EXISTS over the field of a map † | affected | select k, v from doc x where not exists (select 1 from doc y where y.m['y'] = x.k + 1)
"""

_FUNCTIONS = """
function of a row, in Python | incremental | select a, twice(b) as x from t where twice(b) > 2
function of a row, in SQL | incremental | select shout(s) as g, count(*) as n from t group by shout(s)
sum of a function | incremental | select s, sum(cast(twice(b) as int)) as x from t group by s
function of a group | affected | select s, middle(b) as m from t where b is not null group by s
"""

_TIME = """
current_date() in a filter † | incremental | select a, d from t where d >= current_date() - interval 7 days
a period of time † | incremental | select a, d from t where d between current_date() - interval 70 days and current_date()
current_timestamp() in a filter † | incremental | select a, d from t where cast(d as timestamp) > current_timestamp() - interval 7 days
current_date() as a value † | incremental | select a, datediff(current_date(), d) as age from t
now() † | incremental | select a, now() as at from t where d is not null
"""

_VIEWS = """
view over a view | incremental | select a, count(*) as n from big group by a
view over a view and its table | incremental | select big.a, t.s from big join t on big.a = t.b
view over groups | incremental | select n, max(total) as most from totals group by n
diamond of views | affected | select big.a, totals.n from big left join totals on big.s = totals.s
view over a view with LIMIT | incremental | select a, count(*) as n from firsts group by a
"""


def _read(text: str) -> tuple[Construct, ...]:
    lines = (line.split(" | ", 2) for line in text.strip().splitlines())
    return tuple(Construct(name, Strategy(strategy), sql) for name, strategy, sql in lines)


TOPICS = {
    title: _read(text)
    for title, text in (
        ("Rows and columns", _ROWS),
        ("Joins", _JOINS),
        ("Subqueries", _SUBQUERIES),
        ("Aggregate functions", _AGGREGATES),
        ("Grouping", _GROUPING),
        ("Set operations", _SETS),
        ("Windows, order and LIMIT", _WINDOWS),
        ("Generators and pivots", _GENERATORS),
        ("Types", _TYPES),
        ("Functions of your own", _FUNCTIONS),
        ("Time", _TIME),
        ("Views over views", _VIEWS),
    )
}
CONSTRUCTS = tuple(construct for topic in TOPICS.values() for construct in topic)

# Refused when the view is created: an example of each, and what is said.
REFUSED = {
    "> ANY (subquery)": (
        "select a from t where b > any (select k from u)",
        "Spark has no such comparison: write EXISTS (SELECT 1 FROM … WHERE x > y)",
    ),
    "<> ALL (subquery)": (
        "select a from t where b <> all (select k from u)",
        "Spark has no such comparison: write x NOT IN (SELECT …).",
    ),
    "NOT IN (subquery) in the ON of an outer join": (
        "select t.a, u.x from t left join u on t.a = u.a and t.b not in (select k from w)",
        "Spark takes no account of NULL there. Write NOT EXISTS.",
    ),
    "star REPLACE": ("select * replace (a + 1 as a) from u", "List the columns."),
    "pipe operator SET": ("from u |> set a = a + 1", "Write |> SELECT * EXCEPT (a), … AS a."),
    "a subquery that refers past the one around it": (
        "select a, (select max(y) from w where w.k = (select max(k) from u where u.a = t.a)) as m from t",
        "Join the tables instead.",
    ),
    "LIMIT without ORDER BY": (
        "select a from t limit 5",
        "LIMIT without ORDER BY takes any rows, so the result would change from run to run. Add ORDER BY.",
    ),
    "TABLESAMPLE": ("select a from t tablesample (10 percent)", "A sample is not determined by the table."),
    "rand(), uuid(), current_user()": ("select a, rand() as r from t", "rand()"),
}
