CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.product_history
COMMENT 'Slowly changing dimension, type 2: what was known of a product, and from when to when'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  product_id, event_id, title, category, list_price, changed_on AS valid_from,
  lead(changed_on) OVER (PARTITION BY product_id ORDER BY changed_on, event_id) AS valid_to
FROM wh_bronze.product_events
