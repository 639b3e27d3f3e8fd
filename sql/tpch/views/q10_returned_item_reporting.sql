CREATE INCREMENTAL MATERIALIZED VIEW tpch.q10_returned_item_reporting
COMMENT 'TPC-H Q10: revenue lost to parts that customers returned, by customer, last quarter of 1993'
GROUP tpch
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  c.c_custkey,
  c.c_name,
  SUM(l.l_extendedprice * (1 - l.l_discount)) AS revenue,
  c.c_acctbal,
  n.n_name,
  c.c_address,
  c.c_phone,
  c.c_comment
FROM tpch.customer AS c
JOIN tpch.orders AS o ON c.c_custkey = o.o_custkey
JOIN tpch.lineitem AS l ON l.l_orderkey = o.o_orderkey
JOIN tpch.nation AS n ON c.c_nationkey = n.n_nationkey
WHERE o.o_orderdate >= DATE '1993-10-01'
  AND o.o_orderdate < DATE '1994-01-01'
  AND l.l_returnflag = 'R'
GROUP BY c.c_custkey, c.c_name, c.c_acctbal, c.c_phone, n.n_name, c.c_address, c.c_comment
