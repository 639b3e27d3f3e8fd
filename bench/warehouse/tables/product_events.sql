CREATE TABLE IF NOT EXISTS wh_raw.product_events (
  event_id BIGINT NOT NULL,
  product_id BIGINT NOT NULL,
  changed_on DATE,
  title STRING,
  category STRING,
  list_price DECIMAL(10, 2)
)
USING DELTA
COMMENT 'What became known of products, one row a change'
TBLPROPERTIES ('ivm.primary_key' = 'event_id', 'delta.enableChangeDataFeed' = 'true')
