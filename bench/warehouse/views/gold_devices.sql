CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.devices
COMMENT 'What is looked at with, by month'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT trunc(viewed_on, 'MM') AS view_month, device, COUNT(*) AS views, COUNT(DISTINCT customer_id) AS customers
FROM wh_bronze.page_views
GROUP BY trunc(viewed_on, 'MM'), device
