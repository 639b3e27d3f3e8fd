CREATE INCREMENTAL MATERIALIZED VIEW shop.rich
COMMENT 'Countries with revenue over 100: a view over a view'
GROUP shop
AS
SELECT country, revenue FROM shop.revenue WHERE revenue > 100
