MERGE INTO bench_raw.orders_revenue AS held
USING (
  SELECT l_orderkey, COUNT(*) AS line_count, SUM(l_extendedprice) AS price
  FROM table_changes('tpch.lineitem', :first, :last)
  WHERE _change_type = 'insert'
  GROUP BY l_orderkey
) AS new
ON held.l_orderkey = new.l_orderkey
WHEN MATCHED THEN UPDATE SET
  line_count = held.line_count + new.line_count,
  price = held.price + new.price
WHEN NOT MATCHED THEN INSERT (l_orderkey, line_count, price) VALUES (new.l_orderkey, new.line_count, new.price)
