CREATE INCREMENTAL MATERIALIZED VIEW tpch.q02_minimum_cost_supplier
COMMENT 'TPC-H Q02: the cheapest supplier of a part in a region, with all that share its cost'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  s.s_acctbal, s.s_name, n.n_name, p.p_partkey, p.p_mfgr, s.s_address, s.s_phone, s.s_comment
FROM tpch.part AS p
JOIN tpch.partsupp AS ps ON p.p_partkey = ps.ps_partkey
JOIN tpch.supplier AS s ON s.s_suppkey = ps.ps_suppkey
JOIN tpch.nation AS n ON s.s_nationkey = n.n_nationkey
JOIN tpch.region AS r ON n.n_regionkey = r.r_regionkey
WHERE p.p_size = 15
  AND p.p_type LIKE '%BRASS'
  AND r.r_name = 'EUROPE'
  AND ps.ps_supplycost = (
    SELECT MIN(ps2.ps_supplycost)
    FROM tpch.partsupp AS ps2
    JOIN tpch.supplier AS s2 ON s2.s_suppkey = ps2.ps_suppkey
    JOIN tpch.nation AS n2 ON s2.s_nationkey = n2.n_nationkey
    JOIN tpch.region AS r2 ON n2.n_regionkey = r2.r_regionkey
    WHERE p.p_partkey = ps2.ps_partkey AND r2.r_name = 'EUROPE'
  )
