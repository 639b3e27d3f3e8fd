CREATE TABLE IF NOT EXISTS tpch.supplier (
  s_suppkey   BIGINT NOT NULL,
  s_name      STRING,
  s_address   STRING,
  s_nationkey BIGINT NOT NULL,
  s_phone     STRING,
  s_acctbal   DECIMAL(15, 2),
  s_comment   STRING
)
USING DELTA
COMMENT 'Suppliers, each in a nation'
TBLPROPERTIES (
  'ivm.primary_key' = 's_suppkey',
  'ivm.foreign_keys' = 's_nationkey -> tpch.nation(n_nationkey)',
  'delta.enableChangeDataFeed' = 'true'
)
