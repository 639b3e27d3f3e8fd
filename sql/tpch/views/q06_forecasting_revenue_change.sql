CREATE INCREMENTAL MATERIALIZED VIEW tpch.q06_forecasting_revenue_change
COMMENT 'TPC-H Q06: revenue that would have been gained in 1994 without small discounts'
GROUP tpch
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT SUM(l_extendedprice * l_discount) AS revenue
FROM tpch.lineitem
WHERE l_shipdate >= DATE '1994-01-01'
  AND l_shipdate < DATE '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07
  AND l_quantity < 24
