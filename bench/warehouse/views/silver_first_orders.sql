CREATE INCREMENTAL MATERIALIZED VIEW wh_silver.first_orders
COMMENT 'The first order of each customer'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT customer_id, MIN(ordered_on) AS first_ordered_on, MIN(order_month) AS first_month, COUNT(*) AS orders
FROM wh_bronze.orders
GROUP BY customer_id
