CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.slow_shipments
COMMENT 'Parcels that took more than ten days'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT shipment_id, carrier, country, shipped_on, days_under_way
FROM wh_silver.deliveries
WHERE days_under_way > 10
