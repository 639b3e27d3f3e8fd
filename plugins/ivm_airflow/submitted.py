"""The program that spark-submit runs for a task: ``submitted.py question.json answer.json``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ivm_core.settings import Settings


def main(question: Path, answer: Path) -> None:
    """Run the step; what it pushed, returned and failed with, if that is one of ``failures``, goes into the answer."""
    from ivm_airflow.handed import FAILURES, pack_failure, unpack_context
    from ivm_airflow.tasks import compare, maintain

    asked = json.loads(question.read_text("utf-8"))
    context = unpack_context(asked["context"])

    def placed(settings: Settings) -> Settings:
        return settings.model_copy(update={"spark": settings.spark.model_copy(update=asked["spark"])})

    returned, failure = None, None
    try:
        step = {"maintain": maintain, "validate": compare}[asked["step"]]
        returned = step(asked["group"], placed=placed, **context)
    except tuple(FAILURES.values()) as error:
        failure = pack_failure(error)
    ti = context["ti"]
    left = {"pushed": ti.pushed, "told": ti.task.told, "returned": returned, "failure": failure}
    answer.write_text(json.dumps(left), "utf-8")


if __name__ == "__main__":
    # As a script it has its own folder first on the path, where modules are called `report` and `schedule`.
    sys.path[0] = str(Path(__file__).parents[1])
    main(Path(sys.argv[1]), Path(sys.argv[2]))
