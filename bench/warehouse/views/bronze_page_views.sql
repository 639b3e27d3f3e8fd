CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.page_views
COMMENT 'Page views, tablets counted as phones'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT view_id, customer_id, product_id, viewed_on, CASE device WHEN 'tablet' THEN 'phone' ELSE device END AS device
FROM wh_raw.page_views
