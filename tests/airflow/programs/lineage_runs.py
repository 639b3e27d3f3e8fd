"""Runs of a group's DAG with OpenLineage's provider; answer with what each of them did. The provider writes its events to a file.

``python lineage_runs.py answer.json`` with ``IVM_SETTINGS`` and the provider's transport set.
"""

import json
import sys
from pathlib import Path

from runs import PROJECT, change, deployment, run

answer = Path(sys.argv[1])
with deployment() as engine:
    engine.apply(PROJECT)
    places = {view.name: view.location for view in engine.catalog.views()}
    places |= {table.name: table.location for table in engine.catalog.tables()}
    engine.spark.stop()

change(
    "INSERT INTO shop.customers VALUES (1, 'UK'), (2, 'US'), (3, NULL)",
    "INSERT INTO shop.orders SELECT id, 1 + id % 3, CAST(10 + id AS DECIMAL(12, 2)) FROM range(20)",
)
story = {"places": places, "first": run(), "second": run()}
change("INSERT INTO shop.customers VALUES (4, 'DE')")
story["third"] = run()
answer.write_text(json.dumps(story, default=str), "utf-8")
