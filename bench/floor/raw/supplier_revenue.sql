MERGE INTO bench_raw.supplier_revenue AS held
USING (
  SELECT l_suppkey, COUNT(*) AS line_count, SUM(l_extendedprice) AS price
  FROM table_changes('tpch.lineitem', :first, :last)
  WHERE _change_type = 'insert'
  GROUP BY l_suppkey
) AS new
ON held.l_suppkey = new.l_suppkey
WHEN MATCHED THEN UPDATE SET
  line_count = held.line_count + new.line_count,
  price = held.price + new.price
WHEN NOT MATCHED THEN INSERT (l_suppkey, line_count, price) VALUES (new.l_suppkey, new.line_count, new.price)
