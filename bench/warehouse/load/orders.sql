INSERT INTO wh_raw.orders
SELECT
  id,
  pmod(xxhash64(id, 'customer'), :customers),
  pmod(xxhash64(id, 'store'), :stores),
  date_add(DATE '2024-01-01', CAST(pmod(xxhash64(id, 'ordered'), 700) AS INT)),
  element_at(array('open', 'paid', 'shipped', 'done', 'done', 'done', 'cancelled'), CAST(1 + pmod(xxhash64(id, 'status'), 7) AS INT))
FROM range(:first, :last)
