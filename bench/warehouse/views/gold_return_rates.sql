CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.return_rates
COMMENT 'Which part of the lines of a category comes back'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT s.category, s.lines, coalesce(r.lines, 0) AS returned
FROM (SELECT category, SUM(lines) AS lines FROM wh_gold.revenue_by_category GROUP BY category) AS s
LEFT JOIN (SELECT category, COUNT(*) AS lines FROM wh_silver.returns GROUP BY category) AS r ON r.category = s.category
