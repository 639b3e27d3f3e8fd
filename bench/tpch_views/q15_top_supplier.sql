CREATE INCREMENTAL MATERIALIZED VIEW tpch.q15_top_supplier
COMMENT 'TPC-H Q15: the supplier of the largest revenue of a quarter'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
WITH revenue AS MATERIALIZED (
  SELECT l_suppkey AS supplier_no, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue
  FROM tpch.lineitem
  WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-04-01'
  GROUP BY l_suppkey
)
SELECT s.s_suppkey, s.s_name, s.s_address, s.s_phone, r.total_revenue
FROM tpch.supplier AS s
JOIN revenue AS r ON s.s_suppkey = r.supplier_no
WHERE r.total_revenue = (SELECT MAX(total_revenue) FROM revenue)
