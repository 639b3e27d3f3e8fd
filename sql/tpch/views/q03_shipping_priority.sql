CREATE INCREMENTAL MATERIALIZED VIEW tpch.q03_shipping_priority
COMMENT 'TPC-H Q03: revenue of the orders of one market segment that are not yet shipped'
GROUP tpch
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  l.l_orderkey,
  SUM(l.l_extendedprice * (1 - l.l_discount)) AS revenue,
  o.o_orderdate,
  o.o_shippriority
FROM tpch.customer AS c
JOIN tpch.orders AS o ON c.c_custkey = o.o_custkey
JOIN tpch.lineitem AS l ON l.l_orderkey = o.o_orderkey
WHERE c.c_mktsegment = 'BUILDING'
  AND o.o_orderdate < DATE '1995-03-15'
  AND l.l_shipdate > DATE '1995-03-15'
GROUP BY l.l_orderkey, o.o_orderdate, o.o_shippriority
