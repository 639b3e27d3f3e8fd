CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.sales
COMMENT 'Order lines with their order, product and store'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  l.order_id, l.line_no, o.customer_id, o.ordered_on, o.order_month, o.status, p.product_id, p.category,
  s.country AS store_country, l.quantity, l.gross, l.net
FROM wh_bronze.order_lines AS l
JOIN wh_bronze.orders AS o ON o.order_id = l.order_id
JOIN wh_silver.products AS p ON p.product_id = l.product_id
JOIN wh_bronze.stores AS s ON s.store_id = o.store_id
