-- delete+insert: the events of a customer are computed together
SELECT customer_id FROM wh_bronze.customer_events.changes
