CREATE INCREMENTAL MATERIALIZED VIEW far.revenue
GROUP far
TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')
AS
SELECT country, count(*) AS orders, sum(amount) AS revenue, max(amount) AS largest FROM far.orders GROUP BY country
