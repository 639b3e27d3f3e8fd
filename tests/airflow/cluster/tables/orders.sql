CREATE TABLE far.orders (id BIGINT NOT NULL, country STRING, amount DECIMAL(12, 2))
USING DELTA
TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'ivm.primary_key' = 'id')
