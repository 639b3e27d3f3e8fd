CREATE TABLE IF NOT EXISTS tpch.orders (
  o_orderkey      BIGINT NOT NULL,
  o_custkey       BIGINT NOT NULL,
  o_orderstatus   STRING,
  o_totalprice    DECIMAL(15, 2),
  o_orderdate     DATE,
  o_orderpriority STRING,
  o_clerk         STRING,
  o_shippriority  INT,
  o_comment       STRING
)
USING DELTA
COMMENT 'Orders of customers'
TBLPROPERTIES (
  'ivm.primary_key' = 'o_orderkey',
  'ivm.foreign_keys' = 'o_custkey -> tpch.customer(c_custkey)',
  'delta.enableChangeDataFeed' = 'true'
)
