SELECT order_id FROM wh_silver.order_balance.changes
