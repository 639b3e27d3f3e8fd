CREATE TABLE shop.customers (id BIGINT NOT NULL, country STRING)
USING DELTA
TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'ivm.primary_key' = 'id')
