CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.revenue_by_month
COMMENT 'Revenue of each month and store country'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT order_month, store_country, SUM(net) AS net, SUM(quantity) AS pieces, AVG(net) AS average_line
FROM wh_silver.sales
GROUP BY order_month, store_country
