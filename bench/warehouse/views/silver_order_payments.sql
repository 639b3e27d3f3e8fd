CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.order_payments
COMMENT 'What was paid for each order'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT order_id, SUM(amount) AS paid, COUNT(*) AS payments, MAX(paid_on) AS last_paid_on
FROM wh_bronze.payments
GROUP BY order_id
