CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.waiting_by_day
COMMENT 'Orders of which nothing has left yet, by day'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT ordered_on, COUNT(*) AS orders
FROM wh_silver.unshipped_orders
GROUP BY ordered_on
