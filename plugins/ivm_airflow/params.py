"""The trigger form of a group's DAG, and the text that its page shows."""

from __future__ import annotations

from airflow.sdk import Param

from ivm_airflow.manifest import Group
from ivm_airflow.request import MODES, OTHER_NAMES, REASON_LENGTH


def group_params(group: Group) -> dict[str, Param]:
    """Typed parameters: Airflow refuses a wrong one when the run is triggered, the tasks check them once more."""
    names = [view.name for view in group.views]
    return {
        "views": Param(
            None,
            type=["null", "array"],
            items={"type": "string", "enum": names} if names else {"type": "string"},
            examples=names,
            title="Views",
            description_md="Bring only these views to the target. Empty: the whole group.",
        ),
        "mode": Param(
            "catch_up",
            type="string",
            enum=[*MODES, *OTHER_NAMES],
            title="Mode",
            description_md="`catch_up` goes on from where the views stand; `rewind` goes back to *As of*, or to where the "
            "run's interval begins, and replays from there; `full` computes the views anew; `incremental` is full only "
            "when it must be, `incremental_strict` fails rather than that.",
        ),
        "as_of": Param(
            None,
            type=["null", "string"],
            format="date-time",
            # Airflow checks a pattern, but a format only where a package is installed that it does not ask for.
            pattern=r"^\d{4}-\d{2}-\d{2}",
            title="As of",
            description_md="Bring the views to the newest table versions committed at or before this instant. "
            "Empty: the end of the run's interval, or the moment it was triggered. With the mode `rewind`: go back to it.",
        ),
        "measure_full": Param(
            False,
            type="boolean",
            title="Validate everything and time a full refresh",
            description_md="Compare every view with its query now, and measure what a full refresh would have taken.",
        ),
        "reason": Param(
            None,
            type=["null", "string"],  # text that may not be null must be given: Airflow's button is off until it is
            maxLength=REASON_LENGTH,
            title="Reason",
            description_md="Shown in the run's report.",
        ),
    }


def group_doc(group: Group) -> str:
    """The group's views as a Markdown table."""
    lines = ["Brings the views of the group to one set of table versions, validates and reports.", ""]
    lines += ["| view | reads | policy | about |", "|---|---|---|---|"]
    for view in group.views:
        reads = ", ".join((*view.depends_on, *(table for table in view.tables if table not in view.depends_on)))
        lines.append(f"| {_cell(view.name)} | {_cell(reads)} | {_cell(view.policy)} | {_cell(view.comment)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
