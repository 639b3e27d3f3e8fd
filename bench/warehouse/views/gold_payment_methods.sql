CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.payment_methods
COMMENT 'How each month was paid'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT trunc(paid_on, 'MM') AS paid_month, method, SUM(amount) AS amount, COUNT(*) AS payments
FROM wh_bronze.payments
GROUP BY trunc(paid_on, 'MM'), method
