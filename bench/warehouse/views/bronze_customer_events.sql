CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.customer_events
COMMENT 'Customer events with a usable segment and country'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT event_id, customer_id, changed_on, trim(full_name) AS full_name, lower(segment) AS segment, upper(country) AS country
FROM wh_raw.customer_events
WHERE customer_id IS NOT NULL AND changed_on IS NOT NULL
