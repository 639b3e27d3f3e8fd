SELECT order_id FROM wh_bronze.orders.changes
UNION
SELECT order_id FROM wh_bronze.shipments.changes
