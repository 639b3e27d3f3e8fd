SELECT order_id, line_no FROM wh_bronze.order_lines.changes
UNION
SELECT l.order_id, l.line_no
FROM wh_bronze.order_lines AS l
WHERE l.product_id IN (SELECT product_id FROM wh_silver.products.changes)
UNION
SELECT l.order_id, l.line_no
FROM wh_bronze.order_lines AS l
WHERE l.order_id IN (
  SELECT order_id FROM wh_bronze.orders.changes
  UNION
  SELECT o.order_id FROM wh_bronze.orders AS o JOIN wh_bronze.stores.changes AS s ON s.store_id = o.store_id
)
