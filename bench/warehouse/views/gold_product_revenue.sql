CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.product_revenue
COMMENT 'Revenue of each product'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT category, product_id, SUM(net) AS net, SUM(quantity) AS pieces
FROM wh_silver.sales
GROUP BY category, product_id
