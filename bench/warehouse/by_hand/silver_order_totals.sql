SELECT order_id FROM wh_bronze.order_lines.changes
