CREATE INCREMENTAL MATERIALIZED VIEW live.revenue
COMMENT 'Kept by cron'
GROUP minutely
SCHEDULE CRON '* * * * *'
TBLPROPERTIES ('ivm.target_lag' = '1 second', 'ivm.refresh_policy' = 'incremental')
AS
SELECT country, count(*) AS orders, sum(amount) AS revenue FROM live.orders GROUP BY country
