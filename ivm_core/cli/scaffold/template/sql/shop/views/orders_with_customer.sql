CREATE INCREMENTAL MATERIALIZED VIEW shop.orders_with_customer
COMMENT 'Each order with who placed it'
GROUP shop
SCHEDULE CRON '0 * * * *'
AS
SELECT o.id, o.ordered_on, o.amount, c.name AS customer, c.country
FROM shop.orders AS o
JOIN shop.customers AS c ON c.id = o.customer_id
