INSERT INTO bench_raw.lines
SELECT l_orderkey, l_linenumber, l_shipdate, l_extendedprice * (1 - l_discount) AS revenue
FROM table_changes('tpch.lineitem', :first, :last)
WHERE l_quantity > 10 AND _change_type = 'insert'
