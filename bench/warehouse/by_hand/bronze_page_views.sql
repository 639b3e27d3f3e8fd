SELECT view_id FROM wh_raw.page_views.changes
