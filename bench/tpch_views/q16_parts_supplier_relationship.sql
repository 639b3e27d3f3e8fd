CREATE INCREMENTAL MATERIALIZED VIEW tpch.q16_parts_supplier_relationship
COMMENT 'TPC-H Q16: suppliers without complaints, counted by kind of part'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT p.p_brand, p.p_type, p.p_size, COUNT(DISTINCT ps.ps_suppkey) AS supplier_cnt
FROM tpch.partsupp AS ps
JOIN tpch.part AS p ON p.p_partkey = ps.ps_partkey
WHERE p.p_brand <> 'Brand#45'
  AND p.p_type NOT LIKE 'MEDIUM POLISHED%'
  AND p.p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
  AND ps.ps_suppkey NOT IN (
    SELECT s_suppkey FROM tpch.supplier WHERE s_comment LIKE '%Customer%Complaints%'
  )
GROUP BY p.p_brand, p.p_type, p.p_size
