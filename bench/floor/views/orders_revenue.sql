CREATE INCREMENTAL MATERIALIZED VIEW bench_floor.orders_revenue
COMMENT 'As many groups as orders: a batch merges'
GROUP floor
TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')
AS
SELECT l_orderkey, COUNT(*) AS line_count, SUM(l_extendedprice) AS price
FROM tpch.lineitem
GROUP BY l_orderkey
