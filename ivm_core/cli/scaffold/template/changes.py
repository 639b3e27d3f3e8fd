"""Example data: `python changes.py` fills the tables at the first call and changes a few rows at every later one."""

from ivm_core import Engine

FIRST = (
    "INSERT INTO shop.customers VALUES (1, 'Ada', 'UK'), (2, 'Grace', 'US'), (3, 'Emmy', 'DE'), (4, 'Sofia', 'SE')",
    "INSERT INTO shop.orders SELECT id, 1 + id % 4, date_add(DATE'2026-01-01', CAST(id % 90 AS INT)), "
    "CAST(10 + id % 7 AS DECIMAL(12, 2)) FROM range(50)",
)
LATER = (
    "INSERT INTO shop.orders SELECT max(id) + 1, 2, DATE'2026-04-01', CAST(99.50 AS DECIMAL(12, 2)) FROM shop.orders",
    "UPDATE shop.orders SET amount = amount + 1 WHERE id % 10 = 3",
    "MERGE INTO shop.orders AS o USING (SELECT min(id) AS id FROM shop.orders) AS oldest ON o.id = oldest.id "
    "WHEN MATCHED THEN DELETE",
    "UPDATE shop.customers SET country = CASE country WHEN 'SE' THEN 'NO' ELSE 'SE' END WHERE id = 4",
)

if __name__ == "__main__":
    with Engine.open() as engine:
        empty = engine.spark.table("shop.customers").isEmpty()
        for statement in FIRST if empty else LATER:
            print(statement)
            engine.spark.sql(statement)
