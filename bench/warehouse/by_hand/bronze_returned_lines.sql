SELECT order_id, line_no FROM wh_raw.returned_lines.changes
