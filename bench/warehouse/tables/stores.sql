CREATE TABLE IF NOT EXISTS wh_raw.stores (
  store_id BIGINT NOT NULL,
  city STRING,
  country STRING,
  opened_on DATE
)
USING DELTA
COMMENT 'Where orders are placed'
TBLPROPERTIES ('ivm.primary_key' = 'store_id', 'delta.enableChangeDataFeed' = 'true')
