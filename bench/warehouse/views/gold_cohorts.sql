CREATE INCREMENTAL MATERIALIZED VIEW wh_gold.cohorts
COMMENT 'Customers by the month of their first order, with all orders since'
GROUP warehouse
TBLPROPERTIES ('ivm.refresh_policy' = 'auto')
AS
SELECT f.first_month, o.order_month, COUNT(*) AS orders, COUNT(DISTINCT o.customer_id) AS customers
FROM wh_bronze.orders AS o
JOIN wh_silver.first_orders AS f ON f.customer_id = o.customer_id
GROUP BY f.first_month, o.order_month
