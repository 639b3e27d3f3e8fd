SELECT order_id FROM wh_raw.orders.changes
