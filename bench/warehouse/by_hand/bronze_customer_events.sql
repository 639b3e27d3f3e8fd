SELECT event_id FROM wh_raw.customer_events.changes
