CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.products
COMMENT 'Products as they are now'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT product_id, title, category, list_price
FROM wh_silver.product_history
WHERE valid_to IS NULL
