CREATE INCREMENTAL MATERIALIZED VIEW shop.countries
COMMENT 'Customers by country'
GROUP shop
AS
SELECT country, count(*) AS customers FROM shop.customers GROUP BY country
