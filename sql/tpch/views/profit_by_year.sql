CREATE INCREMENTAL MATERIALIZED VIEW tpch.profit_by_year
COMMENT 'A view over a view: the profits of Q09, by year, with the number of nations and the best of them'
GROUP tpch
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  o_year,
  SUM(sum_profit) AS profit,
  COUNT(*)        AS nations,
  MAX(sum_profit) AS best_profit
FROM tpch.q09_product_type_profit
GROUP BY o_year
