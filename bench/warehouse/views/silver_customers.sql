CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.customers
COMMENT 'Customers as they are now'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT customer_id, full_name, segment, country, valid_from AS since
FROM wh_silver.customer_history
WHERE valid_to IS NULL
