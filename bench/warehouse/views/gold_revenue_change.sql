CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.revenue_change
COMMENT 'Revenue of each month against the month before, by store country'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  store_country, order_month, net,
  net - lag(net) OVER (PARTITION BY store_country ORDER BY order_month) AS change
FROM wh_gold.revenue_by_month
