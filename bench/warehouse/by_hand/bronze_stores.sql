SELECT store_id FROM wh_raw.stores.changes
