CREATE INCREMENTAL MATERIALIZED VIEW tpch.q13_customer_distribution
COMMENT 'TPC-H Q13: customers by how many orders they have made, none included'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
WITH c_orders AS MATERIALIZED (
  SELECT c.c_custkey, COUNT(o.o_orderkey) AS c_count
  FROM tpch.customer AS c
  LEFT JOIN tpch.orders AS o
    ON c.c_custkey = o.o_custkey AND o.o_comment NOT LIKE '%special%requests%'
  GROUP BY c.c_custkey
)
SELECT c_count, COUNT(*) AS custdist
FROM c_orders
GROUP BY c_count
