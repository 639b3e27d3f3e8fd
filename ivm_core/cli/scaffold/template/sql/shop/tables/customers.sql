CREATE TABLE shop.customers (
    id      BIGINT NOT NULL,
    name    STRING NOT NULL,
    country STRING
)
USING DELTA
TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'ivm.primary_key' = 'id')
