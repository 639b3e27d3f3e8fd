CREATE TABLE IF NOT EXISTS tpch.nation (
  n_nationkey BIGINT NOT NULL,
  n_name      STRING,
  n_regionkey BIGINT NOT NULL,
  n_comment   STRING
)
USING DELTA
COMMENT 'Nations, each in a region'
TBLPROPERTIES (
  'ivm.primary_key' = 'n_nationkey',
  'ivm.foreign_keys' = 'n_regionkey -> tpch.region(r_regionkey)',
  'delta.enableChangeDataFeed' = 'true'
)
