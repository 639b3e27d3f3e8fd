CREATE INCREMENTAL MATERIALIZED VIEW shop.revenue
COMMENT 'Revenue by country'
GROUP shop
TBLPROPERTIES ('ivm.refresh_policy' = 'incremental_strict', 'ivm.validate_every' = '24 hours')
AS
SELECT c.country, count(*) AS orders, sum(o.amount) AS revenue
FROM shop.orders AS o
JOIN shop.customers AS c ON c.id = o.customer_id
GROUP BY c.country
