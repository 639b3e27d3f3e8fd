CREATE TABLE IF NOT EXISTS wh_raw.payments (
  payment_id BIGINT NOT NULL,
  order_id BIGINT,
  paid_on DATE,
  amount DECIMAL(12, 2),
  method STRING
)
USING DELTA
COMMENT 'What was paid for orders'
TBLPROPERTIES ('ivm.primary_key' = 'payment_id', 'delta.enableChangeDataFeed' = 'true')
