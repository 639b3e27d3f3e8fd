CREATE INCREMENTAL MATERIALIZED VIEW shop.large_countries
COMMENT 'Countries with more than 200 of revenue: a view over a view'
GROUP shop
SCHEDULE CRON '0 * * * *'
AS
SELECT country, revenue
FROM shop.revenue_by_country
WHERE revenue > 200
