CREATE TABLE shop.orders (
    id          BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    ordered_on  DATE NOT NULL,
    amount      DECIMAL(12, 2) NOT NULL
)
USING DELTA
TBLPROPERTIES (
    'delta.enableChangeDataFeed' = 'true',
    'ivm.primary_key' = 'id',
    'ivm.foreign_keys' = 'customer_id -> shop.customers(id)'
)
