CREATE TABLE IF NOT EXISTS wh_raw.page_views (
  view_id BIGINT NOT NULL,
  customer_id BIGINT,
  product_id BIGINT,
  viewed_on DATE,
  device STRING
)
USING DELTA
COMMENT 'Who looked at what'
TBLPROPERTIES ('ivm.primary_key' = 'view_id', 'delta.enableChangeDataFeed' = 'true')
