SELECT payment_id FROM wh_raw.payments.changes
