CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.cancelled_orders
COMMENT 'Orders that came to nothing'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT order_id, customer_id, store_id, ordered_on
FROM wh_raw.orders
WHERE status = 'cancelled'
