INSERT INTO wh_raw.page_views
SELECT
  id,
  pmod(xxhash64(id, 'customer'), :customers),
  pmod(xxhash64(id, 'product'), :products),
  date_add(DATE '2024-01-01', CAST(pmod(xxhash64(id, 'viewed'), 700) AS INT)),
  element_at(array('desktop', 'phone', 'phone', 'tablet'), CAST(1 + pmod(xxhash64(id, 'device'), 4) AS INT))
FROM range(:first, :last)
