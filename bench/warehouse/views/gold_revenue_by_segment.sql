CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.revenue_by_segment
COMMENT 'Revenue by the segment and country of the customer as known then'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT segment, country, order_month, SUM(net) AS net, COUNT(*) AS orders
FROM wh_silver.sales_as_known
GROUP BY segment, country, order_month
