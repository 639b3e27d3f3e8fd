CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.sales_as_known
COMMENT 'Sales with the customer as known on the day of the order'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT o.order_id, o.ordered_on, o.order_month, h.segment, h.country, t.net
FROM wh_bronze.orders AS o
JOIN wh_silver.order_totals AS t ON t.order_id = o.order_id
JOIN wh_silver.customer_history AS h
  ON h.customer_id = o.customer_id AND o.ordered_on >= h.valid_from AND o.ordered_on < coalesce(h.valid_to, DATE '9999-01-01')
