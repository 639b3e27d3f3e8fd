"""Keep the states of views quick to read and to commit to, after batches and never as part of one.

Small batches leave small files and a long log. After a batch, where either has grown past its limit, the files are put
together and a checkpoint is written. No row changes, so a view stands where it stood; failing here fails no batch.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from ivm_core.apply.model import MaintenanceReport
from ivm_core.cost.model import Strategy
from ivm_core.engine.upkeep import commits_since_checkpoint, compact, count_small_files, write_checkpoint
from ivm_core.maintain.session import Session

logger = logging.getLogger(__name__)

LOOK_EVERY = 8  # batches: counting files opens the table's log once more


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What was done for one view's state."""

    view: str
    small_files: int = 0  # of which one or a few were made; 0: they were left alone
    checkpointed: bool = False
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.small_files or self.checkpointed)


def keep_up(session: Session, report: MaintenanceReport) -> Upkeep:
    """Look after a view's state where the batch that was just reported is one of those after which it is looked at."""
    idle = report.error is not None or report.strategy is Strategy.NOOP
    if idle or report.batch % LOOK_EVERY or not session.settings.limits.small_files:
        return Upkeep(report.view)
    return look_after(session, report.view)


def look_after(session: Session, name: str) -> Upkeep:
    """Compact a view's state and write a checkpoint, each where it is due.

    Nothing is done while another process holds the view, and a failure is only logged: the next look tries again.
    """
    started = time.monotonic()
    try:
        view = session.catalog.view(name)
        with session.catalog.lock(view.name, 0.0) as acquired:
            small, checkpointed = _due(session, view.location) if acquired else (0, False)
    except Exception as error:  # whatever it is, the batch before it is committed and right
        logger.info("%s: upkeep failed: %s", name, type(error).__name__)
        return Upkeep(name)
    return Upkeep(view.name, small, checkpointed, time.monotonic() - started)


def _due(session: Session, location: str) -> tuple[int, bool]:
    """Do what is due; returns how many small files were put together, and whether a checkpoint was written."""
    limits = session.settings.limits
    small = count_small_files(location, session.spark_if_open)
    if small > limits.small_files:
        compact(session.spark, location)
    else:
        small = 0
    commits = commits_since_checkpoint(location) or 0
    return small, commits > limits.commits_between_checkpoints and write_checkpoint(location)
