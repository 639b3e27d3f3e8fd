CREATE INCREMENTAL MATERIALIZED VIEW live.large
COMMENT 'Kept by a watcher of the log'
GROUP eager
TRIGGER ON UPDATE
TBLPROPERTIES ('ivm.watch_every' = '2 seconds', 'ivm.refresh_policy' = 'incremental')
AS
SELECT id, country, amount FROM live.orders WHERE amount > 50
