DELETE FROM wh_raw.payments
WHERE payment_id % (4 * :step) = :residue
