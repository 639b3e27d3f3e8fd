CREATE INCREMENTAL MATERIALIZED VIEW tpch.q04_order_priority
COMMENT 'TPC-H Q04: orders of a quarter with a late line, by priority'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT o_orderpriority, COUNT(*) AS order_count
FROM tpch.orders
WHERE o_orderdate >= DATE '1993-07-01'
  AND o_orderdate < DATE '1993-10-01'
  AND EXISTS (
    SELECT 1 FROM tpch.lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate
  )
GROUP BY o_orderpriority
