CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.deliveries
COMMENT 'Shipments of orders with the country that they left from'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT x.shipment_id, x.carrier, x.shipped_on, x.days_under_way, s.country, o.order_month
FROM wh_bronze.shipments AS x
JOIN wh_bronze.orders AS o ON o.order_id = x.order_id
JOIN wh_bronze.stores AS s ON s.store_id = o.store_id
