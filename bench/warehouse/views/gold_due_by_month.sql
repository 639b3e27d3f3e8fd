CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.due_by_month
COMMENT 'What is still due of each month'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT order_month, SUM(due) AS due, SUM(net) AS net, COUNT(*) AS orders
FROM wh_silver.order_balance
GROUP BY order_month
