INSERT INTO wh_raw.shipments
SELECT
  id,
  id,
  date_add(date_add(DATE '2024-01-01', CAST(pmod(xxhash64(id, 'ordered'), 700) AS INT)), CAST(1 + pmod(xxhash64(id, 'shipped'), 5) AS INT)),
  CASE WHEN pmod(xxhash64(id, 'arrived'), 12) > 0
    THEN date_add(date_add(DATE '2024-01-01', CAST(pmod(xxhash64(id, 'ordered'), 700) AS INT)), CAST(2 + pmod(xxhash64(id, 'delivered'), 14) AS INT))
  END,
  element_at(array('north', 'south', 'east'), CAST(1 + pmod(xxhash64(id, 'carrier'), 3) AS INT))
FROM range(:first, :last)
WHERE pmod(xxhash64(id, 'is shipped'), 10) < 8
