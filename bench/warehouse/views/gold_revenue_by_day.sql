CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.revenue_by_day
COMMENT 'Revenue of each day'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT ordered_on, COUNT(*) AS lines, SUM(net) AS net, SUM(gross) AS gross
FROM wh_silver.sales
GROUP BY ordered_on
