CREATE TABLE IF NOT EXISTS tpch.lineitem (
  l_orderkey      BIGINT NOT NULL,
  l_partkey       BIGINT NOT NULL,
  l_suppkey       BIGINT NOT NULL,
  l_linenumber    INT NOT NULL,
  l_quantity      DECIMAL(15, 2),
  l_extendedprice DECIMAL(15, 2),
  l_discount      DECIMAL(15, 2),
  l_tax           DECIMAL(15, 2),
  l_returnflag    STRING,
  l_linestatus    STRING,
  l_shipdate      DATE,
  l_commitdate    DATE,
  l_receiptdate   DATE,
  l_shipinstruct  STRING,
  l_shipmode      STRING,
  l_comment       STRING
)
USING DELTA
COMMENT 'The lines of orders: a part from a supplier, with price, discount and dates'
TBLPROPERTIES (
  'ivm.primary_key' = 'l_orderkey, l_linenumber',
  'ivm.foreign_keys' = 'l_orderkey -> tpch.orders(o_orderkey); l_partkey, l_suppkey -> tpch.partsupp(ps_partkey, ps_suppkey); l_partkey -> tpch.part(p_partkey); l_suppkey -> tpch.supplier(s_suppkey)',
  'delta.enableChangeDataFeed' = 'true'
)
