SELECT product_id FROM wh_silver.product_history.changes
