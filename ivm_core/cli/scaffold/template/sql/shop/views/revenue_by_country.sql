CREATE INCREMENTAL MATERIALIZED VIEW shop.revenue_by_country
COMMENT 'Orders and revenue by country'
GROUP shop
SCHEDULE CRON '0 * * * *'
TBLPROPERTIES ('ivm.refresh_policy' = 'auto', 'ivm.validate_every' = '24 hours')
AS
SELECT c.country, count(*) AS orders, sum(o.amount) AS revenue, avg(o.amount) AS average_order
FROM shop.orders AS o
JOIN shop.customers AS c ON c.id = o.customer_id
GROUP BY c.country
