CREATE TABLE shop.orders (id BIGINT NOT NULL, customer_id BIGINT NOT NULL, amount DECIMAL(12, 2))
USING DELTA
TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'ivm.primary_key' = 'id')
