CREATE INCREMENTAL MATERIALIZED VIEW tpch.q18_large_orders
COMMENT 'TPC-H Q18: orders of more than 300 parts, with their customers'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  c.c_name,
  c.c_custkey,
  o.o_orderkey,
  o.o_orderdate,
  o.o_totalprice,
  SUM(l.l_quantity) AS quantity
FROM tpch.customer AS c
JOIN tpch.orders AS o ON c.c_custkey = o.o_custkey
JOIN tpch.lineitem AS l ON o.o_orderkey = l.l_orderkey
WHERE o.o_orderkey IN (
  SELECT l_orderkey FROM tpch.lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > 300
)
GROUP BY c.c_name, c.c_custkey, o.o_orderkey, o.o_orderdate, o.o_totalprice
