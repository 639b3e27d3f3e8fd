CREATE INCREMENTAL MATERIALIZED VIEW live.countries
COMMENT 'Kept by what the group above it tells of its view'
GROUP above
TRIGGER ON UPDATE
TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')
AS
SELECT count(*) AS countries, sum(orders) AS orders FROM live.revenue
