SELECT event_id FROM wh_raw.product_events.changes
