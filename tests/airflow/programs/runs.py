"""What programs share that run a group's DAG in Airflow's own runner: the deployment, its changes, one run."""

import json
import os
from pathlib import Path

from airflow import settings as airflow_settings
from airflow.dag_processing.dagbag import DagBag
from airflow.models.dagrun import DagRun
from airflow.models.xcom import XComModel

PROJECT = Path(__file__).parents[1] / "project"


def change(*statements: str) -> None:
    """Change base tables as any other Spark application would."""
    with deployment() as engine:
        for statement in statements:
            engine.spark.sql(statement)
        engine.spark.stop()


def deployment():
    from ivm_core import Engine

    return Engine.open(settings=os.environ["IVM_SETTINGS"])


def contents() -> dict[str, list]:
    with deployment() as engine:
        names = sorted(engine.lineage())
        rows = {name: sorted(map(str, map(tuple, engine.read(name).collect()))) for name in names}
        engine.spark.stop()
        return rows


def run(conf: dict | None = None, **when: object) -> dict:
    """One run of the DAG; what its tasks ended as and left, and the report it wrote."""
    dag = DagBag().dags["ivm_shop"]
    finished = dag.test(run_conf=conf, **when)
    session = airflow_settings.Session()
    record = session.get(DagRun, finished.id)
    states = {ti.task_id: str(ti.state) for ti in record.get_task_instances(session=session)}
    found = session.query(XComModel).filter(XComModel.run_id == record.run_id).all()
    xcoms = {f"{item.task_id}.{item.key}": XComModel.deserialize_value(item) for item in found}
    summary = xcoms.get("report.return_value") or {}
    report = json.loads(Path(summary["json"]).read_text("utf-8")) if summary else None
    return {"state": str(record.state), "tasks": states, "xcoms": xcoms, "report": report, "run_id": record.run_id}
