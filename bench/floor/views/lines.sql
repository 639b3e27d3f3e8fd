CREATE INCREMENTAL MATERIALIZED VIEW bench_floor.lines
COMMENT 'Rows as they come: a batch of inserts appends'
GROUP floor
TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')
AS
SELECT l_orderkey, l_linenumber, l_shipdate, l_extendedprice * (1 - l_discount) AS revenue
FROM tpch.lineitem
WHERE l_quantity > 10
