CREATE INCREMENTAL MATERIALIZED VIEW tpch.q14_promotion_effect
COMMENT 'TPC-H Q14: the share of promoted parts in the revenue of September 1995, in percent'
GROUP tpch
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  100.00 * SUM(CASE WHEN p.p_type LIKE 'PROMO%' THEN l.l_extendedprice * (1 - l.l_discount) ELSE 0 END)
    / SUM(l.l_extendedprice * (1 - l.l_discount)) AS promo_revenue
FROM tpch.lineitem AS l
JOIN tpch.part AS p ON l.l_partkey = p.p_partkey
WHERE l.l_shipdate >= DATE '1995-09-01'
  AND l.l_shipdate < DATE '1995-10-01'
