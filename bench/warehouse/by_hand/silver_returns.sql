SELECT order_id, line_no FROM wh_bronze.returned_lines.changes
UNION
SELECT order_id, line_no FROM wh_silver.sales.changes
