CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.shipments
COMMENT 'Shipments with the days that they took'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT shipment_id, order_id, shipped_on, delivered_on, carrier, datediff(delivered_on, shipped_on) AS days_under_way
FROM wh_raw.shipments
