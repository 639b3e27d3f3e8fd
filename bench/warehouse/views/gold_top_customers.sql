CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.top_customers
COMMENT 'The hundred best customers'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT c.customer_id, c.full_name, c.country, v.net, v.orders
FROM wh_gold.customer_value AS v
JOIN wh_silver.customers AS c ON c.customer_id = v.customer_id
ORDER BY v.net DESC, c.customer_id
LIMIT 100
