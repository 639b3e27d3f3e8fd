CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.customer_ranks
COMMENT 'Customers by value within their country, the first twenty'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT country, place, customer_id, net
FROM (
  SELECT c.country, c.customer_id, v.net, rank() OVER (PARTITION BY c.country ORDER BY v.net DESC) AS place
  FROM wh_gold.customer_value AS v
  JOIN wh_silver.customers AS c ON c.customer_id = v.customer_id
) AS ranked
WHERE place <= 20
