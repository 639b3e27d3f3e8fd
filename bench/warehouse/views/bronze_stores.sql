CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.stores
COMMENT 'Stores with the year in which they opened'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT store_id, city, country, year(opened_on) AS opened_year
FROM wh_raw.stores
