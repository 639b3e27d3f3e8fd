CREATE TABLE IF NOT EXISTS tpch.region (
  r_regionkey BIGINT NOT NULL,
  r_name      STRING,
  r_comment   STRING
)
USING DELTA
COMMENT 'The five regions of the world'
TBLPROPERTIES (
  'ivm.primary_key' = 'r_regionkey',
  'delta.enableChangeDataFeed' = 'true'
)
