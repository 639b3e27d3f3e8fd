CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.customer_value
COMMENT 'What each customer has brought'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT customer_id, COUNT(*) AS orders, SUM(net) AS net, SUM(due) AS due, MAX(ordered_on) AS last_ordered_on
FROM wh_silver.order_balance
GROUP BY customer_id
