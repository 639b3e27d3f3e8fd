INSERT INTO wh_raw.stores
SELECT
  id,
  concat('City ', id),
  element_at(array('DE', 'FR', 'IT', 'PL', 'US', 'JP'), CAST(1 + pmod(xxhash64(id, 'country'), 6) AS INT)),
  date_add(DATE '2015-01-01', CAST(pmod(xxhash64(id, 'opened'), 3000) AS INT))
FROM range(:first, :last)
