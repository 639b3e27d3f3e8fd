INSERT INTO wh_raw.customer_events
SELECT
  id,
  CASE WHEN id < :customers THEN id ELSE pmod(xxhash64(id, 'customer'), :customers) END,
  CASE WHEN id < :customers THEN DATE '2023-12-31' ELSE date_add(DATE '2024-01-01', CAST(pmod(xxhash64(id, 'changed'), 700) AS INT)) END,
  concat('Customer ', pmod(xxhash64(id, 'name'), 100000)),
  element_at(array('consumer', 'business', 'public'), CAST(1 + pmod(xxhash64(id, 'segment'), 3) AS INT)),
  element_at(array('DE', 'FR', 'IT', 'PL', 'US', 'JP'), CAST(1 + pmod(xxhash64(id, 'country'), 6) AS INT))
FROM range(:first, :last)
