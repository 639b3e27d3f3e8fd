CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.interest_and_sales
COMMENT 'Views and revenue of products, by month'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT i.product_id, i.view_month, i.views, s.net
FROM wh_silver.interest AS i
LEFT JOIN (
  SELECT product_id, order_month, SUM(net) AS net FROM wh_silver.sales GROUP BY product_id, order_month
) AS s ON s.product_id = i.product_id AND s.order_month = i.view_month
