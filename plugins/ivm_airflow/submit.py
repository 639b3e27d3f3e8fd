"""A computing task as an application of its own: the provider's SparkSubmitOperator runs ``submitted.py`` as a client."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowException

from ivm_airflow import tasks
from ivm_airflow.connection import connection_id, with_connection
from ivm_airflow.failures import Permanent, translated
from ivm_airflow.handed import pack_context, unpack_failure
from ivm_airflow.lineage import TellsLineage
from ivm_airflow.manifest import settings_path

if TYPE_CHECKING:
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

PROGRAM = Path(__file__).with_name("submitted.py")


class SubmittedTask(TellsLineage, SparkSubmitOperator):
    """The step of ``tasks`` that is named as the task, for a group of views."""

    def __init__(self, *, group: str, task_id: str, **options: Any) -> None:
        super().__init__(task_id=task_id, conn_id=connection_id(), name=f"ivm {group} {task_id}", **options)
        self.group = group
        self._master = ""

    def execute(self, context: Any) -> None:
        """Run the step in the program, and leave what it left.

        Raises one of ``failures``, or AirflowException where the program broke off.
        """
        if self.task_id == "validate" and not tasks.due_views(context["ti"]):
            tasks.validate(self.group, **context)
            return
        from ivm_core.engine.session import session_conf
        from ivm_core.settings import Settings

        with translated():
            settings = with_connection(Settings.load(settings_path()))
        self._master = settings.spark.master
        if self._master.startswith("sc://"):
            raise Permanent(
                f"spark-submit cannot use a Spark Connect server. Make {connection_id()} of type `spark`, or take "
                "`[ivm] submit` out of Airflow's configuration."
            )
        self.conf = session_conf(settings)
        self.env_vars = {"PYSPARK_PYTHON": sys.executable}
        question = {"step": self.task_id, "group": self.group, "context": pack_context(context)}
        question["spark"] = {"master": self._master, "conf": settings.spark.conf}
        returned = self._ask(question, context)
        if self.task_id == "validate":
            tasks.conclude(returned, context)

    def _ask(self, question: dict[str, Any], context: Any) -> list[dict[str, Any]]:
        """Hand the question to the program; what the step returned, after its values were pushed."""
        # Only this user may read the folder.
        with TemporaryDirectory(prefix="ivm-") as folder:
            asked, answered = Path(folder, "question.json"), Path(folder, "answer.json")
            asked.write_text(json.dumps(question), "utf-8")
            self.application, self.application_args = str(PROGRAM), [str(asked), str(answered)]
            super().execute(context)
            if not answered.exists():
                raise AirflowException("The submitted program left no answer: see its output above.")
            answer = json.loads(answered.read_text("utf-8"))
        self.told = answer["told"]
        for key, value in answer["pushed"].items():
            context["ti"].xcom_push(key=key, value=value)
        if answer["failure"] is not None:
            raise unpack_failure(answer["failure"])
        return list(answer["returned"] or ())

    def _get_hook(self) -> SparkSubmitHook:
        hook = super()._get_hook()
        # Where there is no connection the provider takes YARN; here the settings file says.
        hook._connection["master"] = self._master
        if hook._connection["deploy_mode"] == "cluster":
            raise Permanent("deploy-mode `cluster` is not supported: the task and its program share a folder.")
        return hook
