CREATE INCREMENTAL MATERIALIZED VIEW wh_bronze.payments
COMMENT 'Payments with their method in one spelling'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT payment_id, order_id, paid_on, amount, CASE method WHEN 'transfer' THEN 'bank' ELSE method END AS method
FROM wh_raw.payments
