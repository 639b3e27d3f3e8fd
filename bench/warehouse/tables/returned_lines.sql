CREATE TABLE IF NOT EXISTS wh_raw.returned_lines (
  order_id BIGINT NOT NULL,
  line_no INT NOT NULL,
  returned_on DATE,
  reason STRING
)
USING DELTA
COMMENT 'Lines that came back'
TBLPROPERTIES ('ivm.primary_key' = 'order_id, line_no', 'delta.enableChangeDataFeed' = 'true')
