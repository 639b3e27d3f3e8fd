UPDATE wh_raw.shipments SET delivered_on = date_add(shipped_on, 9)
WHERE shipment_id % :step = :residue AND delivered_on IS NULL
