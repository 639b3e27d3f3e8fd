CREATE INCREMENTAL MATERIALIZED VIEW tpch.q08_national_market_share
COMMENT 'TPC-H Q08: the share of Brazil in the American market for one type of part, by year'
GROUP tpch
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  o_year,
  SUM(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / SUM(volume) AS mkt_share
FROM (
  SELECT
    YEAR(o.o_orderdate)                      AS o_year,
    l.l_extendedprice * (1 - l.l_discount)   AS volume,
    n2.n_name                                AS nation
  FROM tpch.part AS p
  JOIN tpch.lineitem AS l ON p.p_partkey = l.l_partkey
  JOIN tpch.supplier AS s ON s.s_suppkey = l.l_suppkey
  JOIN tpch.orders AS o ON l.l_orderkey = o.o_orderkey
  JOIN tpch.customer AS c ON o.o_custkey = c.c_custkey
  JOIN tpch.nation AS n1 ON c.c_nationkey = n1.n_nationkey
  JOIN tpch.region AS r ON n1.n_regionkey = r.r_regionkey
  JOIN tpch.nation AS n2 ON s.s_nationkey = n2.n_nationkey
  WHERE r.r_name = 'AMERICA'
    AND o.o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
    AND p.p_type = 'ECONOMY ANODIZED STEEL'
) AS all_nations
GROUP BY o_year
