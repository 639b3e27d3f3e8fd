CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.top_products
COMMENT 'The ten best products of each category'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT category, place, product_id, net
FROM (
  SELECT category, product_id, net, row_number() OVER (PARTITION BY category ORDER BY net DESC, product_id) AS place
  FROM wh_gold.product_revenue
) AS ranked
WHERE place <= 10
