CREATE INCREMENTAL MATERIALIZED VIEW tpch.q18_large_orders
COMMENT 'TPC-H Q18: orders of more than 300 parts, with their customers'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
WITH quantities AS MATERIALIZED (
  SELECT l_orderkey, SUM(l_quantity) AS quantity FROM tpch.lineitem GROUP BY l_orderkey
)
SELECT c.c_name, c.c_custkey, o.o_orderkey, o.o_orderdate, o.o_totalprice, q.quantity
FROM tpch.customer AS c
JOIN tpch.orders AS o ON c.c_custkey = o.o_custkey
JOIN quantities AS q ON o.o_orderkey = q.l_orderkey
WHERE q.quantity > 300
