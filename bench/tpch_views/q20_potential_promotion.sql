CREATE INCREMENTAL MATERIALIZED VIEW tpch.q20_potential_promotion
COMMENT 'TPC-H Q20: suppliers with more of a part than half of a year''s sales'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
WITH sold AS MATERIALIZED (
  SELECT l.l_partkey, l.l_suppkey, 0.5 * SUM(l.l_quantity) AS half
  FROM tpch.lineitem AS l
  JOIN tpch.part AS p ON l.l_partkey = p.p_partkey
  WHERE p.p_name LIKE 'forest%' AND l.l_shipdate >= DATE '1994-01-01' AND l.l_shipdate < DATE '1995-01-01'
  GROUP BY l.l_partkey, l.l_suppkey
), plenty AS MATERIALIZED (
  SELECT ps.ps_suppkey, COUNT(*) AS parts
  FROM tpch.partsupp AS ps
  JOIN sold ON sold.l_partkey = ps.ps_partkey AND sold.l_suppkey = ps.ps_suppkey
  WHERE ps.ps_availqty > sold.half
  GROUP BY ps.ps_suppkey
)
SELECT s.s_name, s.s_address
FROM tpch.supplier AS s
JOIN tpch.nation AS n ON s.s_nationkey = n.n_nationkey
WHERE n.n_name = 'CANADA' AND s.s_suppkey IN (SELECT ps_suppkey FROM plenty)
