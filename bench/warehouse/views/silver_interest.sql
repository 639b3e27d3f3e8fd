CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.interest
COMMENT 'How often each product was looked at, by month'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT product_id, trunc(viewed_on, 'MM') AS view_month, COUNT(*) AS views
FROM wh_bronze.page_views
GROUP BY product_id, trunc(viewed_on, 'MM')
