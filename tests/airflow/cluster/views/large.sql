CREATE INCREMENTAL MATERIALIZED VIEW far.large
GROUP far
TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')
AS
SELECT id, country, amount FROM far.orders WHERE amount > 50
