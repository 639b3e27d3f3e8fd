INSERT INTO wh_raw.order_lines
SELECT
  id,
  line_no,
  pmod(xxhash64(id, line_no, 'product'), :products),
  CAST(1 + pmod(xxhash64(id, line_no, 'quantity'), 9) AS INT),
  CAST(1 + pmod(xxhash64(id, line_no, 'price'), 20000) / 100 AS DECIMAL(10, 2)),
  CAST(pmod(xxhash64(id, line_no, 'discount'), 30) / 100 AS DECIMAL(4, 2))
FROM range(:first, :last)
LATERAL VIEW explode(sequence(1, CAST(1 + pmod(xxhash64(id, 'lines'), 4) AS INT))) AS line_no
