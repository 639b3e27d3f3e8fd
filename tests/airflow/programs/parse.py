"""Parse the DAG folder; answer with import errors, serialized DAGs, and which heavy packages the parsing has loaded."""

import json
import sys
from pathlib import Path

HEAVY = ("pyspark", "delta", "deltalake", "sqlglot", "duckdb", "great_expectations", "pandas", "alembic", "ivm_core")

from airflow.dag_processing.dagbag import DagBag  # noqa: E402
from airflow.serialization.serialized_objects import DagSerialization  # noqa: E402

before = set(sys.modules)
bag = DagBag(sys.argv[2] if len(sys.argv) > 2 else None)
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
Path(sys.argv[1]).write_text(
    json.dumps(
        {
            "errors": {Path(path).name: text for path, text in bag.import_errors.items()},
            "dags": {dag_id: DagSerialization.serialize_dag(dag) for dag_id, dag in bag.dags.items()},
            "heavy": sorted(loaded & set(HEAVY)),
        }
    )
)
