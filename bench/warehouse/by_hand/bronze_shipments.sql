SELECT shipment_id FROM wh_raw.shipments.changes
