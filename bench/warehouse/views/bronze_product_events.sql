CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.product_events
COMMENT 'Product events with a price'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT event_id, product_id, changed_on, title, category, list_price
FROM wh_raw.product_events
WHERE list_price > 0
