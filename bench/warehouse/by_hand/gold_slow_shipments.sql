SELECT shipment_id FROM wh_silver.deliveries.changes
