SELECT order_id FROM wh_bronze.payments.changes
