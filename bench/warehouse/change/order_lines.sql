UPDATE wh_raw.order_lines SET quantity = quantity % 9 + 1
WHERE order_id % :step = :residue AND line_no = 1
