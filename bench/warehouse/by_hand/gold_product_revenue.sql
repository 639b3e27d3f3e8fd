SELECT category, product_id FROM wh_silver.sales.changes
