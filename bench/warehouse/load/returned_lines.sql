INSERT INTO wh_raw.returned_lines
SELECT
  id,
  1,
  date_add(date_add(DATE '2024-01-01', CAST(pmod(xxhash64(id, 'ordered'), 700) AS INT)), CAST(20 + pmod(xxhash64(id, 'returned'), 30) AS INT)),
  element_at(array('broken', 'late', 'other', 'unwanted'), CAST(1 + pmod(xxhash64(id, 'reason'), 4) AS INT))
FROM range(:first, :last)
WHERE pmod(xxhash64(id, 'is returned'), 12) = 0
