CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.return_reasons
COMMENT 'Why lines come back, by category and month'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT category, reason, return_month, COUNT(*) AS lines, SUM(net) AS net
FROM wh_silver.returns
GROUP BY category, reason, return_month
