DELETE FROM wh_raw.page_views
WHERE view_id % (2 * :step) = :residue
