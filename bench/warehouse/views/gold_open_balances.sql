CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.open_balances
COMMENT 'Orders on which more than 500 is still due'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT order_id, customer_id, ordered_on, due
FROM wh_silver.order_balance
WHERE due > 500
