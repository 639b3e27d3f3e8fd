SELECT order_id, line_no FROM wh_raw.order_lines.changes
