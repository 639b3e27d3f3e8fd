CREATE INCREMENTAL MATERIALIZED VIEW tpch.q11_important_stock
COMMENT 'TPC-H Q11: parts that hold a noticeable share of the stock of a nation'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT ps.ps_partkey, SUM(ps.ps_supplycost * ps.ps_availqty) AS value
FROM tpch.partsupp AS ps
JOIN tpch.supplier AS s ON ps.ps_suppkey = s.s_suppkey
JOIN tpch.nation AS n ON s.s_nationkey = n.n_nationkey
WHERE n.n_name = 'GERMANY'
GROUP BY ps.ps_partkey
HAVING SUM(ps.ps_supplycost * ps.ps_availqty) > (
  SELECT SUM(ps2.ps_supplycost * ps2.ps_availqty) * 0.0001
  FROM tpch.partsupp AS ps2
  JOIN tpch.supplier AS s2 ON ps2.ps_suppkey = s2.s_suppkey
  JOIN tpch.nation AS n2 ON s2.s_nationkey = n2.n_nationkey
  WHERE n2.n_name = 'GERMANY'
)
