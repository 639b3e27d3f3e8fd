INSERT INTO wh_raw.payments
SELECT
  id,
  id,
  date_add(date_add(DATE '2024-01-01', CAST(pmod(xxhash64(id, 'ordered'), 700) AS INT)), CAST(pmod(xxhash64(id, 'paid'), 20) AS INT)),
  CAST(1 + pmod(xxhash64(id, 'amount'), 90000) / 100 AS DECIMAL(12, 2)),
  element_at(array('card', 'card', 'invoice', 'transfer'), CAST(1 + pmod(xxhash64(id, 'method'), 4) AS INT))
FROM range(:first, :last)
WHERE pmod(xxhash64(id, 'is paid'), 10) < 9
