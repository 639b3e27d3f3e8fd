CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.carriers
COMMENT 'How long parcels take, by carrier and country'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT carrier, country, COUNT(*) AS shipments, COUNT(days_under_way) AS delivered, AVG(days_under_way) AS days, MAX(days_under_way) AS longest
FROM wh_silver.deliveries
GROUP BY carrier, country
