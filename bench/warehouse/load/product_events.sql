INSERT INTO wh_raw.product_events
SELECT
  id,
  CASE WHEN id < :products THEN id ELSE pmod(xxhash64(id, 'product'), :products) END,
  CASE WHEN id < :products THEN DATE '2023-12-31' ELSE date_add(DATE '2024-01-01', CAST(pmod(xxhash64(id, 'changed'), 700) AS INT)) END,
  concat('Product ', pmod(xxhash64(id, 'title'), 100000)),
  element_at(
    array('books', 'garden', 'kitchen', 'music', 'office', 'sports', 'tools', 'toys'),
    CAST(1 + pmod(xxhash64(CASE WHEN id < :products THEN id ELSE pmod(xxhash64(id, 'product'), :products) END), 8) AS INT)
  ),
  CAST(1 + pmod(xxhash64(id, 'price'), 20000) / 100 AS DECIMAL(10, 2))
FROM range(:first, :last)
