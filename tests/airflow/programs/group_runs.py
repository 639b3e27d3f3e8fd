"""Runs of a group's DAG over a small deployment, as Airflow runs them; answer with what each of them did.

``python group_runs.py answer.json deployment_folder`` with ``AIRFLOW_CONN_SPARK_DEFAULT`` and ``IVM_SETTINGS`` set.
"""

import json
import sys
from pathlib import Path

from runs import PROJECT, change, contents, deployment, run

answer = Path(sys.argv[1])


with deployment() as engine:
    engine.apply(PROJECT)
    engine.spark.stop()

story = {}
change(
    "INSERT INTO shop.customers VALUES (1, 'UK'), (2, 'US'), (3, NULL)",
    "INSERT INTO shop.orders SELECT id, 1 + id % 3, CAST(10 + id AS DECIMAL(12, 2)) FROM range(20)",
)
# As after a trigger by an asset: the context has no logical date and no data interval.
story["first"] = run(logical_date=None)
story["second"] = run()
change(
    "UPDATE shop.orders SET amount = amount + 1 WHERE id % 4 = 0",
    "DELETE FROM shop.orders WHERE id = 7",
    "UPDATE shop.customers SET country = 'UK' WHERE id = 2",
)
story["one_view"] = run({"views": ["shop.countries"], "reason": "only this one"})
story["measured"] = run({"measure_full": True})
story["full"] = run({"mode": "full", "views": ["shop.countries"]})
story["before"] = contents()
for name, conf in {
    "unknown_view": {"views": ["shop.countries; DROP TABLE shop.orders"]},
    "unknown_mode": {"mode": "full'; DROP TABLE shop.orders; --"},
    "bad_instant": {"as_of": "2026-01-01' OR 1=1"},
    "unknown_key": {"policy": "full"},
}.items():
    try:
        story[name] = run(conf)
    except Exception as error:  # Airflow itself refuses what its own schema excludes
        story[name] = {"refused": f"{type(error).__name__}: {error}"}
story["after"] = contents()
change(
    "INSERT INTO shop.customers VALUES (4, 'DE')",
    "CREATE OR REPLACE TABLE shop.orders (id BIGINT, customer_id BIGINT, amount DECIMAL(12, 2)) USING DELTA "
    "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
)
story["partly_failed"] = run()
answer.write_text(json.dumps(story, default=str), "utf-8")
