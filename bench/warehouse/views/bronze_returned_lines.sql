CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.returned_lines
COMMENT 'Returned lines with their month'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT order_id, line_no, returned_on, trunc(returned_on, 'MM') AS return_month, reason
FROM wh_raw.returned_lines
