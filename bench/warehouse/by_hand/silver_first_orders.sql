SELECT customer_id FROM wh_bronze.orders.changes
