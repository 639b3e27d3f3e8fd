"""Runs of a group's DAG whose computing tasks are started by spark-submit; answer with what each of them did.

``python submitted_runs.py answer.json`` with ``AIRFLOW__IVM__SUBMIT`` and ``IVM_SETTINGS`` set.
"""

import json
import os
import sys
from pathlib import Path

from airflow.dag_processing.dagbag import DagBag
from runs import PROJECT, change, deployment, run

answer = Path(sys.argv[1])
with deployment() as engine:
    engine.apply(PROJECT)
    engine.spark.stop()

dag = DagBag().dags["ivm_shop"]
story = {"types": {task.task_id: [kind.__name__ for kind in type(task).__mro__] for task in dag.tasks}}
change(
    "INSERT INTO shop.customers VALUES (1, 'UK'), (2, 'US'), (3, NULL)",
    "INSERT INTO shop.orders SELECT id, 1 + id % 3, CAST(10 + id AS DECIMAL(12, 2)) FROM range(20)",
)
story["first"] = run(logical_date=None)
with deployment() as engine:
    story["wrong"] = [name for name in sorted(engine.lineage()) if not engine.validate(name).ok]
    engine.spark.stop()
change(
    "INSERT INTO shop.customers VALUES (4, 'DE')",
    "CREATE OR REPLACE TABLE shop.orders (id BIGINT, customer_id BIGINT, amount DECIMAL(12, 2)) USING DELTA "
    "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
)
story["partly_failed"] = run()
os.environ["AIRFLOW_CONN_SPARK_DEFAULT"] = json.dumps({"conn_type": "spark_connect", "host": "sc://nowhere"})
story["connect"] = run()
answer.write_text(json.dumps(story, default=str), "utf-8")
