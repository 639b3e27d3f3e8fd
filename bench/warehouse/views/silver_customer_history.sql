CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.customer_history
COMMENT 'Slowly changing dimension, type 2: what was known of a customer, and from when to when'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  customer_id, event_id, full_name, segment, country, changed_on AS valid_from,
  lead(changed_on) OVER (PARTITION BY customer_id ORDER BY changed_on, event_id) AS valid_to
FROM wh_bronze.customer_events
