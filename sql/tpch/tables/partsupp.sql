CREATE TABLE IF NOT EXISTS tpch.partsupp (
  ps_partkey    BIGINT NOT NULL,
  ps_suppkey    BIGINT NOT NULL,
  ps_availqty   INT,
  ps_supplycost DECIMAL(15, 2),
  ps_comment    STRING
)
USING DELTA
COMMENT 'Which supplier offers which part, and at what cost'
TBLPROPERTIES (
  'ivm.primary_key' = 'ps_partkey, ps_suppkey',
  'ivm.foreign_keys' = 'ps_partkey -> tpch.part(p_partkey); ps_suppkey -> tpch.supplier(s_suppkey)',
  'delta.enableChangeDataFeed' = 'true'
)
