CREATE INCREMENTAL MATERIALIZED VIEW tpch.q09_product_type_profit
COMMENT 'TPC-H Q09: profit on green parts, by nation of the supplier and year'
GROUP tpch
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  nation,
  o_year,
  SUM(amount) AS sum_profit
FROM (
  SELECT
    n.n_name                                                                     AS nation,
    YEAR(o.o_orderdate)                                                          AS o_year,
    l.l_extendedprice * (1 - l.l_discount) - ps.ps_supplycost * l.l_quantity     AS amount
  FROM tpch.part AS p
  JOIN tpch.lineitem AS l ON p.p_partkey = l.l_partkey
  JOIN tpch.supplier AS s ON s.s_suppkey = l.l_suppkey
  JOIN tpch.partsupp AS ps ON ps.ps_suppkey = l.l_suppkey AND ps.ps_partkey = l.l_partkey
  JOIN tpch.orders AS o ON o.o_orderkey = l.l_orderkey
  JOIN tpch.nation AS n ON s.s_nationkey = n.n_nationkey
  WHERE p.p_name LIKE '%green%'
) AS profit
GROUP BY nation, o_year
