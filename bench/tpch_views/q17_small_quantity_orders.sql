CREATE INCREMENTAL MATERIALIZED VIEW tpch.q17_small_quantity_orders
COMMENT 'TPC-H Q17: revenue of orders far below the usual quantity of a part'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT SUM(l.l_extendedprice) / 7.0 AS avg_yearly
FROM tpch.lineitem AS l
JOIN tpch.part AS p ON p.p_partkey = l.l_partkey
WHERE p.p_brand = 'Brand#23'
  AND p.p_container = 'MED BOX'
  AND l.l_quantity < (
    SELECT 0.2 * AVG(l2.l_quantity) FROM tpch.lineitem AS l2 WHERE l2.l_partkey = p.p_partkey
  )
