SELECT shipment_id FROM wh_bronze.shipments.changes
UNION
SELECT x.shipment_id
FROM wh_bronze.shipments AS x
WHERE x.order_id IN (
  SELECT order_id FROM wh_bronze.orders.changes
  UNION
  SELECT o.order_id FROM wh_bronze.orders AS o JOIN wh_bronze.stores.changes AS s ON s.store_id = o.store_id
)
