CREATE INCREMENTAL MATERIALIZED VIEW tpch.q22_global_sales_opportunity
COMMENT 'TPC-H Q22: customers with money and without orders, by country code'
GROUP tpch
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
FROM (
  SELECT SUBSTRING(c.c_phone, 1, 2) AS cntrycode, c.c_acctbal
  FROM tpch.customer AS c
  WHERE SUBSTRING(c.c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17')
    AND c.c_acctbal > (
      SELECT AVG(c2.c_acctbal)
      FROM tpch.customer AS c2
      WHERE c2.c_acctbal > 0.00
        AND SUBSTRING(c2.c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17')
    )
    AND NOT EXISTS (SELECT 1 FROM tpch.orders AS o WHERE o.o_custkey = c.c_custkey)
) AS custsale
GROUP BY cntrycode
