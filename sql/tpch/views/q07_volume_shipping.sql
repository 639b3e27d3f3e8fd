CREATE INCREMENTAL MATERIALIZED VIEW tpch.q07_volume_shipping
COMMENT 'TPC-H Q07: trade between France and Germany, by direction and year'
GROUP tpch
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  supp_nation,
  cust_nation,
  l_year,
  SUM(volume) AS revenue
FROM (
  SELECT
    n1.n_name                                AS supp_nation,
    n2.n_name                                AS cust_nation,
    YEAR(l.l_shipdate)                       AS l_year,
    l.l_extendedprice * (1 - l.l_discount)   AS volume
  FROM tpch.supplier AS s
  JOIN tpch.lineitem AS l ON s.s_suppkey = l.l_suppkey
  JOIN tpch.orders AS o ON o.o_orderkey = l.l_orderkey
  JOIN tpch.customer AS c ON c.c_custkey = o.o_custkey
  JOIN tpch.nation AS n1 ON s.s_nationkey = n1.n_nationkey
  JOIN tpch.nation AS n2 ON c.c_nationkey = n2.n_nationkey
  WHERE ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY')
      OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE'))
    AND l.l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
) AS shipping
GROUP BY supp_nation, cust_nation, l_year
