CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.events_by_day
COMMENT 'Everything that happens on a day, by kind'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT day, kind, COUNT(*) AS events
FROM (
  SELECT ordered_on AS day, 'order' AS kind FROM wh_bronze.orders
  UNION ALL
  SELECT ordered_on, 'cancelled' FROM wh_bronze.cancelled_orders
  UNION ALL
  SELECT paid_on, 'payment' FROM wh_bronze.payments
  UNION ALL
  SELECT shipped_on, 'shipment' FROM wh_bronze.shipments
) AS events
GROUP BY day, kind
