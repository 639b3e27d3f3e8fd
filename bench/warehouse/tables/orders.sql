CREATE TABLE IF NOT EXISTS wh_raw.orders (
  order_id BIGINT NOT NULL,
  customer_id BIGINT,
  store_id BIGINT,
  ordered_on DATE,
  status STRING
)
USING DELTA
COMMENT 'Orders as the shop reports them'
TBLPROPERTIES ('ivm.primary_key' = 'order_id', 'delta.enableChangeDataFeed' = 'true')
