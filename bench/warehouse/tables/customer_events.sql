CREATE TABLE IF NOT EXISTS wh_raw.customer_events (
  event_id BIGINT NOT NULL,
  customer_id BIGINT NOT NULL,
  changed_on DATE,
  full_name STRING,
  segment STRING,
  country STRING
)
USING DELTA
COMMENT 'What became known of customers, one row a change'
TBLPROPERTIES ('ivm.primary_key' = 'event_id', 'delta.enableChangeDataFeed' = 'true')
