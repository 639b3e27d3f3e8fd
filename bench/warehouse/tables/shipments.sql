CREATE TABLE IF NOT EXISTS wh_raw.shipments (
  shipment_id BIGINT NOT NULL,
  order_id BIGINT,
  shipped_on DATE,
  delivered_on DATE,
  carrier STRING
)
USING DELTA
COMMENT 'Parcels on their way'
TBLPROPERTIES ('ivm.primary_key' = 'shipment_id', 'delta.enableChangeDataFeed' = 'true')
