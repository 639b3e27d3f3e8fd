CREATE INCREMENTAL MATERIALIZED VIEW tpch.q05_local_supplier_volume
COMMENT 'TPC-H Q05: revenue in Asia in 1994 where customer and supplier are of the same nation'
GROUP tpch
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  n.n_name,
  SUM(l.l_extendedprice * (1 - l.l_discount)) AS revenue
FROM tpch.customer AS c
JOIN tpch.orders AS o ON c.c_custkey = o.o_custkey
JOIN tpch.lineitem AS l ON l.l_orderkey = o.o_orderkey
JOIN tpch.supplier AS s ON l.l_suppkey = s.s_suppkey AND c.c_nationkey = s.s_nationkey
JOIN tpch.nation AS n ON s.s_nationkey = n.n_nationkey
JOIN tpch.region AS r ON n.n_regionkey = r.r_regionkey
WHERE r.r_name = 'ASIA'
  AND o.o_orderdate >= DATE '1994-01-01'
  AND o.o_orderdate < DATE '1995-01-01'
GROUP BY n.n_name
