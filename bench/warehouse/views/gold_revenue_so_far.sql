CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.revenue_so_far
COMMENT 'Revenue of each month with the sum up to it, by store country'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  store_country, order_month, net,
  SUM(net) OVER (PARTITION BY store_country ORDER BY order_month ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far
FROM wh_gold.revenue_by_month
