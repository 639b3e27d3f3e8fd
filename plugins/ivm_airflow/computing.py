"""The tasks that compute: in the task's own process, or in a program that the provider's SparkSubmitOperator starts."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseOperator
from airflow.sdk.configuration import conf

from ivm_airflow import tasks
from ivm_airflow.lineage import TellsLineage

STEPS = {"maintain": tasks.maintain, "validate": tasks.validate}


class ComputedTask(TellsLineage, BaseOperator):
    """The step of ``tasks`` that is named as the task, for a group of views."""

    def __init__(self, *, group: str, task_id: str, **options: Any) -> None:
        super().__init__(task_id=task_id, **options)
        self.group = group

    def execute(self, context: Any) -> None:
        """Run the step. Raises one of ``failures``."""
        STEPS[self.task_id](self.group, **context)


def computing_task(step: str, group: str, **options: Any) -> Any:
    """The task ``maintain`` or ``validate`` of a group, by ``[ivm] submit`` of Airflow's configuration."""
    if conf.getboolean("ivm", "submit", fallback=False):
        # The provider is imported by those who want it: a DAG is parsed faster without.
        from ivm_airflow.submit import SubmittedTask

        return SubmittedTask(task_id=step, group=group, **options)
    return ComputedTask(task_id=step, group=group, **options)
