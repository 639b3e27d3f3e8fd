CREATE INCREMENTAL MATERIALIZED VIEW tpch.q21_suppliers_who_kept_orders_waiting
COMMENT 'TPC-H Q21: suppliers who alone were late in orders of several suppliers'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT s.s_name, COUNT(*) AS numwait
FROM tpch.supplier AS s
JOIN tpch.lineitem AS l1 ON s.s_suppkey = l1.l_suppkey
JOIN tpch.orders AS o ON o.o_orderkey = l1.l_orderkey
JOIN tpch.nation AS n ON s.s_nationkey = n.n_nationkey
WHERE o.o_orderstatus = 'F'
  AND l1.l_receiptdate > l1.l_commitdate
  AND EXISTS (
    SELECT 1 FROM tpch.lineitem AS l2
    WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey
  )
  AND NOT EXISTS (
    SELECT 1 FROM tpch.lineitem AS l3
    WHERE l3.l_orderkey = l1.l_orderkey
      AND l3.l_suppkey <> l1.l_suppkey
      AND l3.l_receiptdate > l3.l_commitdate
  )
  AND n.n_name = 'SAUDI ARABIA'
GROUP BY s.s_name
