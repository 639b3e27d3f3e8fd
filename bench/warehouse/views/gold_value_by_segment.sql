CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.value_by_segment
COMMENT 'What customers of each segment and country bring'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT c.segment, c.country, COUNT(*) AS customers, SUM(v.net) AS net, MAX(v.net) AS best
FROM wh_gold.customer_value AS v
JOIN wh_silver.customers AS c ON c.customer_id = v.customer_id
GROUP BY c.segment, c.country
