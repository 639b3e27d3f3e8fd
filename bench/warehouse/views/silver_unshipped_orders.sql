CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.unshipped_orders
COMMENT 'Orders of which nothing has left yet'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT o.order_id, o.customer_id, o.ordered_on
FROM wh_bronze.orders AS o
WHERE NOT EXISTS (SELECT 1 FROM wh_bronze.shipments AS x WHERE x.order_id = o.order_id)
