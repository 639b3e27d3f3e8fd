CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.order_totals
COMMENT 'Orders with the sums of their lines'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT order_id, COUNT(*) AS line_count, SUM(quantity) AS pieces, SUM(gross) AS gross, SUM(net) AS net
FROM wh_bronze.order_lines
GROUP BY order_id
