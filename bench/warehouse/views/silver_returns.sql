CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.returns
COMMENT 'Returned lines with what they had brought'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT r.order_id, r.line_no, r.return_month, r.reason, s.category, s.net
FROM wh_bronze.returned_lines AS r
JOIN wh_silver.sales AS s ON s.order_id = r.order_id AND s.line_no = r.line_no
