"""Parse the DAG folder once a manifest; answer with import errors, serialized DAGs, and the heavy packages loaded by it,
and the processor's time."""

import json
import os
import sys
import time
from pathlib import Path

from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.serialized_objects import DagSerialization

HEAVY = {"pyspark", "delta", "deltalake", "sqlglot", "duckdb", "great_expectations", "pandas", "alembic", "ivm_core"}

answers = []
before = set(sys.modules)
for manifest in sys.argv[2:]:
    os.environ["IVM_MANIFEST"] = manifest
    started = time.process_time()
    bag = DagBag()
    seconds = time.process_time() - started
    loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
    answers.append(
        {
            "errors": {Path(path).name: text for path, text in bag.import_errors.items()},
            "dags": {dag_id: DagSerialization.serialize_dag(dag) for dag_id, dag in bag.dags.items()},
            "heavy": sorted(loaded & HEAVY),
            "cpu_seconds": seconds,
        }
    )
Path(sys.argv[1]).write_text(json.dumps(answers), "utf-8")
