CREATE TABLE IF NOT EXISTS tpch.customer (
  c_custkey    BIGINT NOT NULL,
  c_name       STRING,
  c_address    STRING,
  c_nationkey  BIGINT NOT NULL,
  c_phone      STRING,
  c_acctbal    DECIMAL(15, 2),
  c_mktsegment STRING,
  c_comment    STRING
)
USING DELTA
COMMENT 'Customers, each in a nation and a market segment'
TBLPROPERTIES (
  'ivm.primary_key' = 'c_custkey',
  'ivm.foreign_keys' = 'c_nationkey -> tpch.nation(n_nationkey)',
  'delta.enableChangeDataFeed' = 'true'
)
