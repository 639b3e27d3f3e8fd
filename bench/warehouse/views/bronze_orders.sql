CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.orders
COMMENT 'Orders that were not cancelled, with their month'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT order_id, customer_id, store_id, ordered_on, trunc(ordered_on, 'MM') AS order_month, status
FROM wh_raw.orders
WHERE status <> 'cancelled'
