-- delete+insert: the events of a product are computed together
SELECT product_id FROM wh_bronze.product_events.changes
