"""Expressions whose types Spark is asked for: over one table for rows, and as aggregates and window functions."""

from __future__ import annotations

COLUMNS = (
    ("t", "tinyint"),
    ("m", "smallint"),
    ("i", "int"),
    ("l", "bigint"),
    ("f", "float"),
    ("d", "double"),
    ("p", "decimal(15,2)"),
    ("q", "decimal(38,10)"),
    ("r", "decimal(5,4)"),
    ("w", "decimal(20,0)"),
    ("s", "string"),
    ("b", "boolean"),
    ("dt", "date"),
    ("ts", "timestamp"),
    ("nz", "timestamp_ntz"),
    ("ar", "array<int>"),
    ("mp", "map<string,decimal(3,1)>"),
    ("st", "struct<x:int,y:decimal(4,2)>"),
)

ROWWISE = """
1
-1
3000000000
99999999999999999999
0.05
1.0
.5
5.
-0.05
10.10
1e3
1L
1S
1.5BD
1.5D
'x'
NULL
TRUE
DATE '2024-01-01'
TIMESTAMP '2024-01-01 00:00:00'
t + m
t + i
m * l
i + l
i - 1
l + 1
i + 3000000000
t + 1
w + 1
m % i
l % i
i / l
i / 2
i div 2
f + i
f * d
f + f
f / f
f + l
f - p
d + p
d * 0.5
1e3 + 1
p + p
p - q
p * p
p * q
q * q
p / p
p / q
q / q
p % r
p % w
w % r
p + 1
p * 2
1 - r
p * (1 - r) * (1 + r)
p * -1
p + i
p * l
p / i
i / p
p % 7
l - p
t * p
1 + 0.05
0.05 * 2
1.5 / 3
100.00 * p / q
p * 0.0001000000
p / 7.0
w * w
w * w * w
w / w
r / w
-p
-i
-(p + 1)
abs(p)
abs(i)
abs(-1)
i > l
i = 1 AND b
NOT b
s LIKE 'a%'
s IS NULL
i IN (1, 2)
i BETWEEN 1 AND 2
i <=> l
s RLIKE 'a'
CASE WHEN b THEN i ELSE l END
CASE WHEN b THEN p ELSE 0 END
CASE WHEN b THEN p END
CASE WHEN b THEN p ELSE q END
CASE WHEN b THEN r ELSE 0 END
CASE WHEN b THEN p * (1 - r) ELSE 0 END
CASE WHEN b THEN w ELSE r END
CASE WHEN b THEN d ELSE p END
CASE WHEN b THEN f ELSE i END
CASE WHEN b THEN NULL ELSE s END
CASE WHEN b THEN 1 ELSE 0 END
CASE WHEN b THEN t ELSE m END
CASE WHEN b THEN dt ELSE ts END
CASE WHEN b THEN dt ELSE nz END
CASE WHEN b THEN 0.5 ELSE 10 END
CASE i WHEN 1 THEN 'a' ELSE 'b' END
CASE WHEN b THEN f ELSE p END
CASE WHEN b THEN f ELSE l END
CASE WHEN b THEN f ELSE d END
COALESCE(i, l)
COALESCE(p, 0)
COALESCE(p, 0.0)
COALESCE(l, 0)
COALESCE(q / q, 0)
COALESCE(NULL, p)
IF(b, p, 1)
NULLIF(i, l)
NULLIF(p, 0)
NVL(p, 0)
GREATEST(i, l)
LEAST(p, q)
CAST(i AS DECIMAL(10, 2))
CAST(p AS INT)
CAST(s AS DATE)
CAST(i AS STRING)
CAST(p AS DECIMAL)
TRY_CAST(s AS INT)
i::BIGINT
CAST(s AS TIMESTAMP)
CAST(ts AS TIMESTAMP_NTZ)
year(dt)
month(dt)
day(dt)
quarter(dt)
weekofyear(dt)
dayofweek(dt)
dayofyear(dt)
hour(ts)
minute(ts)
second(ts)
EXTRACT(YEAR FROM dt)
EXTRACT(MONTH FROM ts)
EXTRACT(WEEK FROM dt)
EXTRACT(HOUR FROM ts)
EXTRACT(SECOND FROM ts)
EXTRACT(DAY FROM dt)
date_add(dt, 1)
date_sub(dt, i)
dt + 1
dt - 1
add_months(dt, 3)
datediff(dt, dt)
dt + INTERVAL '1' DAY
dt + INTERVAL 3 MONTHS
dt - INTERVAL '1' YEAR
dt + INTERVAL 1 WEEK
dt + INTERVAL '1 WEEK 2 DAYS'
dt - INTERVAL '1 YEAR 2 MONTHS'
dt - INTERVAL '1 DAY 2 HOURS'
ts - INTERVAL '1 DAY 2 HOURS'
dt + INTERVAL '1' HOUR
ts + INTERVAL '1' DAY
ts - INTERVAL '1' HOUR
nz + INTERVAL '1' DAY
dt - dt
ts - ts
to_date(s)
to_date(s, 'yyyy')
to_date(s, 'yyyy-MM-dd')
date_trunc('month', ts)
date_trunc('M', ts)
trunc(dt, 'Y')
date_format(dt, 'E y')
to_timestamp(s, 'E y')
to_date(s, 'E y')
unix_timestamp(s, 'E y')
from_unixtime(l, 'E y')
get_json_object(s, '$.*')
sequence(ts, dt, interval 1 day)
p / 3L
p * -12S
-3Y
-2147483648
shiftrightunsigned(l, 2)
s || i + 1
date_trunc('month', dt)
date_trunc('month', nz)
trunc(dt, 'MM')
last_day(dt)
next_day(dt, 'Mon')
to_timestamp(s)
unix_timestamp(ts)
date_format(dt, 'yyyy')
make_date(1, 1, 1)
substring(s, 1, 2)
substr(s, 2)
left(s, 2)
right(s, 2)
upper(s)
lower(s)
trim(s)
ltrim(s)
initcap(s)
length(s)
concat(s, 'a')
concat(s, i)
concat(ar, ar)
concat_ws(',', s, s)
s || i
s || s
replace(s, 'a', 'b')
regexp_replace(s, 'a', 'b')
regexp_extract(s, 'a', 0)
split(s, ',')
lpad(s, 3, ' ')
instr(s, 'a')
locate('a', s)
position('a' IN s)
startswith(s, 'a')
contains(s, 'a')
reverse(s)
repeat(s, 2)
ascii(s)
md5(s)
sha2(s, 256)
hash(i)
xxhash64(i)
round(p)
round(p, 1)
round(p, 5)
round(p, -1)
round(q, 2)
round(w, 0)
round(i, 1)
round(d, 1)
round(f)
ceil(p)
floor(p)
ceil(w)
ceil(d)
floor(i)
floor(l)
ceil(t)
ceil(p, 1)
sqrt(p)
power(i, 2)
exp(d)
ln(d)
log(10, d)
log10(d)
sign(i)
sign(p)
mod(i, 2)
pmod(i, 2)
cbrt(d)
i & l
i | 1
i ^ 1
~i
shiftleft(i, 1)
ar[0]
mp['a']
st.x
st.y
element_at(ar, 1)
size(ar)
array(i, l)
array_contains(ar, 1)
coalesce(ar, array())
coalesce(ar, array(l))
sort_array(ar)
explode(ar)
map_keys(mp)
named_struct('a', i, 'b', p)
struct(i, p)
nvl2(i, p, 0)
ifnull(i, 0)
isnull(i)
isnotnull(i)
nanvl(d, d)
greatest(dt, dt)
hex(i)
bin(i)
crc32(s)
get_json_object(s, '$.a')
sin(i)
cos(d)
tan(i)
asin(d)
acos(i)
atan(d)
sinh(i)
cosh(d)
tanh(i)
asinh(d)
acosh(i)
atanh(d)
cot(i)
sec(d)
csc(i)
degrees(d)
radians(i)
signum(d)
sign(i)
rint(d)
expm1(i)
log1p(d)
atan2(d, i)
hypot(i, f)
pi()
e()
cardinality(mp)
array_size(ar)
pmod(i, 3)
pmod(p, 7)
i & 3
l | i
i ^ t
shiftright(l, 1)
i << 2
zeroifnull(i)
zeroifnull(p)
zeroifnull(d)
nullifzero(i)
try_add(i, 1)
try_add(p, 1)
try_subtract(l, i)
try_multiply(i, l)
try_divide(i, 2)
next_day(dt, 'MO')
parse_json(s)
try_parse_json(s)
variant_get(parse_json(s), '$.a')
variant_get(parse_json(s), '$.a', 'int')
try_variant_get(parse_json(s), '$.a', 'decimal(4,1)')
parse_json(s):a
to_variant_object(st)
map_filter(mp, (k, v) -> v > 0)
map_from_arrays(array(s), array(i))
map_values(mp)
map_concat(mp, mp)
arrays_overlap(ar, ar)
array_distinct(ar)
array_remove(ar, 1)
array_compact(ar)
slice(ar, 1, 2)
array_union(ar, ar)
array_intersect(ar, ar)
array_except(ar, ar)
array_max(ar)
array_min(ar)
element_at(mp, 'a')
try_element_at(ar, 1)
array_position(ar, 1)
array_join(ar, ',')
array_append(ar, 1)
array_repeat(i, 2)
exists(ar, x -> x > 1)
forall(ar, x -> x > 1)
reverse(ar)
split_part(s, ',', 1)
regexp_extract(s, '(a)', 1)
regexp_substr(s, 'a')
regexp_count(s, 'a')
regexp_instr(s, 'a')
regexp_like(s, 'a')
lpad(s, 5, ' ')
rpad(s, 5, ' ')
rtrim(s)
translate(s, 'a', 'b')
substring_index(s, '.', 1)
chr(i)
char(i)
sha1(s)
hash(i, s)
base64(s)
unbase64(s)
soundex(s)
levenshtein(s, s)
format_number(i, 2)
format_string('%s', s)
printf('%s', s)
from_unixtime(l)
to_unix_timestamp(ts)
months_between(dt, dt)
date_from_unix_date(i)
unix_date(dt)
unix_seconds(ts)
unix_millis(ts)
timestamp_seconds(i)
timestamp_millis(l)
make_date(i, 1, 1)
weekday(dt)
dayname(dt)
monthname(dt)
bit_count(i)
bit_length(s)
octet_length(s)
char_length(s)
character_length(s)
factorial(i)
log2(d)
width_bucket(d, 0, 1, 3)
conv(s, 10, 16)
bin(l)
isnan(d)
nvl(i, 0)
ifnull(i, l)
nvl2(i, l, i)
typeof(i)
to_json(st)
json_array_length(s)
json_object_keys(s)
str_to_map(s, ',', ':')
find_in_set('a', s)
space(i)
encode(s, 'UTF-8')
bround(p, 1)
isnull(s)
isnotnull(s)
equal_null(i, l)
date_part('YEAR', dt)
datepart('MONTH', dt)
try_to_timestamp(s)
timestampdiff(HOUR, ts, ts)
timestampadd(HOUR, 1, ts)
from_utc_timestamp(ts, 'UTC')
to_utc_timestamp(ts, 'UTC')
convert_timezone('UTC', nz)
int(s)
string(i)
double(i)
get(ar, 0)
collation(s)
is_valid_utf8(s)
map_contains_key(mp, 'a')
pmod(l, 7)
try_add(i, l)
try_divide(d, i)
reverse(encode(s, 'UTF-8'))
lpad(encode(s, 'UTF-8'), 3)
array_union(ar, array(l))
nullifzero(p)
zeroifnull(l)
try_multiply(p, 2)
map_values(map_filter(mp, (k, v) -> v > 0))
get(array(s), 0)
array_repeat(s, 2)
-i & l
t | m
shiftleft(m, 1)
""".strip().splitlines()

AGGREGATES = """
count(*)
count(i)
count(DISTINCT i)
count(DISTINCT i, l)
sum(t)
sum(i)
sum(l)
sum(f)
sum(d)
sum(p)
sum(q)
sum(r)
sum(DISTINCT p)
sum(p * (1 - r))
sum(p * (1 - r) * (1 + r))
sum(CASE WHEN b THEN p ELSE 0 END)
sum(CASE WHEN b THEN 1 ELSE 0 END)
try_sum(t)
try_sum(i)
try_sum(p)
try_sum(r)
try_avg(i)
try_avg(p)
try_avg(w)
avg(i)
avg(l)
avg(f)
avg(p)
avg(q)
avg(r)
avg(w)
min(i)
min(p)
max(s)
max(dt)
max(b)
min(CASE WHEN b THEN i END)
stddev(p)
stddev_samp(i)
stddev_pop(i)
variance(i)
var_pop(i)
corr(d, d)
covar_pop(i, l)
covar_samp(i, l)
count_if(b)
bool_and(b)
bool_or(b)
bit_and(i)
bit_or(l)
bit_xor(t)
collect_list(i)
sort_array(collect_list(i))
sort_array(collect_set(s))
collect_set(p)
array_agg(s)
any_value(p)
first(p)
last(dt)
max_by(p, i)
min_by(s, i)
approx_count_distinct(i)
percentile(p, 0.5)
percentile_approx(p, 0.5)
median(i)
percentile(i, 1)
percentile(i, array(0.2, 0.5))
percentile_cont(0.5) WITHIN GROUP (ORDER BY l DESC)
percentile_disc(0.5) WITHIN GROUP (ORDER BY i)
percentile_disc(0.5) WITHIN GROUP (ORDER BY p DESC)
percentile_disc(0.5) WITHIN GROUP (ORDER BY f)
mode(p)
skewness(d)
kurtosis(d)
regr_count(d, d)
regr_slope(d, d)
regr_intercept(i, p)
regr_r2(i, l)
regr_sxx(p, p)
regr_syy(f, i)
regr_sxy(d, q)
regr_avgx(p, i)
regr_avgy(p, i)
skewness(p)
kurtosis(i)
listagg(s, ',')
sum(p) / count(*)
sum(p) / sum(q)
avg(p) * 0.2
sum(l) + 1
100.00 * sum(p) / sum(p)
sum(ts - ts)
""".strip().splitlines()

WINDOWS = """
row_number() OVER (ORDER BY i)
rank() OVER (ORDER BY i)
dense_rank() OVER (ORDER BY i)
ntile(4) OVER (ORDER BY i)
percent_rank() OVER (ORDER BY i)
cume_dist() OVER (ORDER BY i)
lag(p) OVER (ORDER BY i)
lead(i, 1, 0) OVER (ORDER BY i)
lag(p, 1, 0) OVER (ORDER BY i)
first_value(s) OVER (ORDER BY i)
last_value(p) OVER (ORDER BY i)
nth_value(p, 2) OVER (ORDER BY i)
sum(i) OVER (PARTITION BY b)
sum(p) OVER (PARTITION BY b ORDER BY i)
avg(p) OVER (PARTITION BY b)
count(*) OVER (PARTITION BY b)
max(dt) OVER (PARTITION BY b)
""".strip().splitlines()
