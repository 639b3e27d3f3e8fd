CREATE TABLE IF NOT EXISTS wh_raw.order_lines (
  order_id BIGINT NOT NULL,
  line_no INT NOT NULL,
  product_id BIGINT,
  quantity INT,
  unit_price DECIMAL(10, 2),
  discount DECIMAL(4, 2)
)
USING DELTA
COMMENT 'The lines of orders'
TBLPROPERTIES ('ivm.primary_key' = 'order_id, line_no', 'delta.enableChangeDataFeed' = 'true')
