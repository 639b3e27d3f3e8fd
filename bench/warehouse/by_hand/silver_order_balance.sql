SELECT order_id FROM wh_bronze.orders.changes
UNION
SELECT order_id FROM wh_silver.order_totals.changes
UNION
SELECT order_id FROM wh_silver.order_payments.changes
