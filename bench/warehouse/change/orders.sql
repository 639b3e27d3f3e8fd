UPDATE wh_raw.orders SET status = CASE status WHEN 'open' THEN 'paid' WHEN 'paid' THEN 'shipped' ELSE 'done' END
WHERE order_id % :step = :residue
