CREATE INCREMENTAL MATERIALIZED VIEW bench_floor.supplier_revenue
COMMENT 'Few groups, most of which a batch touches'
GROUP floor
TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')
AS
SELECT l_suppkey, COUNT(*) AS line_count, SUM(l_extendedprice) AS price
FROM tpch.lineitem
GROUP BY l_suppkey
