CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.order_balance
COMMENT 'Orders with what is still to be paid'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT
  o.order_id, o.customer_id, o.ordered_on, o.order_month, t.net, coalesce(p.paid, 0) AS paid,
  t.net - coalesce(p.paid, 0) AS due
FROM wh_bronze.orders AS o
JOIN wh_silver.order_totals AS t ON t.order_id = o.order_id
LEFT JOIN wh_silver.order_payments AS p ON p.order_id = o.order_id
