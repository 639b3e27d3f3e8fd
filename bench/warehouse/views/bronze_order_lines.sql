CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.order_lines
COMMENT 'Order lines with their amounts'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  order_id, line_no, product_id, quantity, unit_price, discount,
  CAST(quantity * unit_price AS DECIMAL(14, 2))                  AS gross,
  CAST(quantity * unit_price * (1 - discount) AS DECIMAL(14, 2)) AS net
FROM wh_raw.order_lines
WHERE quantity > 0
