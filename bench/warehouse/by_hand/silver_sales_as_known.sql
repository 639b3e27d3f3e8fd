SELECT order_id FROM wh_bronze.orders.changes
UNION
SELECT order_id FROM wh_silver.order_totals.changes
UNION
SELECT o.order_id
FROM wh_bronze.orders AS o
WHERE o.customer_id IN (SELECT customer_id FROM wh_silver.customer_history.changes)
