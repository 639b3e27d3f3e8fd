CREATE TABLE IF NOT EXISTS tpch.part (
  p_partkey     BIGINT NOT NULL,
  p_name        STRING,
  p_mfgr        STRING,
  p_brand       STRING,
  p_type        STRING,
  p_size        INT,
  p_container   STRING,
  p_retailprice DECIMAL(15, 2),
  p_comment     STRING
)
USING DELTA
COMMENT 'Parts that are sold'
TBLPROPERTIES (
  'ivm.primary_key' = 'p_partkey',
  'delta.enableChangeDataFeed' = 'true'
)
