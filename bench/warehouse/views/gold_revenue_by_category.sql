CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.revenue_by_category
COMMENT 'Revenue of each category and month'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT category, order_month, SUM(net) AS net, COUNT(*) AS lines
FROM wh_silver.sales
GROUP BY category, order_month
