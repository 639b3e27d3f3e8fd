"""A maintenance job: data that says what one batch of one view reads, computes and writes. JSON both ways.

A job is made of named inputs (slices of base tables), steps (readable SQL over inputs and earlier steps, each
computed once) and one write of the view's state table. It holds no versions: a batch binds them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from ivm_core.cost.model import Reason, Strategy


class Slice(StrEnum):
    """Which part of a base table's history an input shows."""

    CHANGES = "changes"  # netted changes of the batch, with a weight column
    BEFORE = "before"
    AFTER = "after"
    STORED = "stored"  # the view's own state as the batch finds it, with all of its columns


@dataclass(frozen=True, slots=True)
class InputColumn:
    """Base-table column ``source`` shown as ``name`` (Spark type as SQL)."""

    name: str
    source: str
    type: str


@dataclass(frozen=True, slots=True)
class Bound:
    """Only rows whose ``column`` is among the values of ``step_column`` in ``step`` can matter to this input.

    The engine may turn it into a literal IN list or a range, or ignore it: it never changes a result.
    ``null_safe``: NULL matches NULL, so rows with NULL must stay where the step holds a NULL.
    """

    column: str
    step: str
    step_column: str
    null_safe: bool = False


@dataclass(frozen=True, slots=True)
class Input:
    """A slice of a base table under the name that the steps' SQL uses. ``step`` of a Bound may name a CHANGES input."""

    name: str
    table: str
    slice: Slice
    columns: tuple[InputColumn, ...]
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """An intermediate relation: one SELECT in Spark SQL over inputs and earlier steps, computed once when ``materialize``.

    ``when``: an earlier step; where that has no rows nothing needs this one, and the engine takes what it reads for empty.
    """

    name: str
    sql: str
    comment: str = ""
    materialize: bool = True
    when: str = ""


class WriteKind(StrEnum):
    """How the last step changes the state table."""

    OVERWRITE = "overwrite"  # the step's rows become the state
    BAG = "bag"  # the step's rows are weighted changes: append positive copies, remove negative ones
    MERGE_GROUPS = "merge_groups"  # accumulators are added to the state's groups
    REPLACE_GROUPS = "replace_groups"  # the step holds the new state of each touched group; vanished ones are flagged


class Combine(StrEnum):
    """How an accumulator's stored value and its change combine."""

    ADD = "add"  # stored + change
    LEAST = "least"  # only from insertions; see MergeColumn.deleted
    GREATEST = "greatest"


@dataclass(frozen=True, slots=True)
class MergeColumn:
    """An accumulator of MERGE_GROUPS. ``deleted`` names the step's column with the extreme value among deleted rows."""

    name: str
    combine: Combine
    type: str
    deleted: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """The one commit of the batch: ``step`` is applied to the state table.

    ``keys``: the state's group keys. ``count``: the state column with the number of rows of the group ("" for
    REPLACE_GROUPS and BAG). ``recompute``: for MERGE_GROUPS with LEAST/GREATEST, a step that computes whole state
    rows of the groups listed in the relation named ``RECOMPUTED_KEYS`` (columns: ``keys``), used only for groups
    whose stored extreme was deleted. ``approximate``: columns of a BAG whose last digits may differ from the stored ones.
    """

    kind: WriteKind
    step: str
    keys: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    merge: tuple[MergeColumn, ...] = ()
    count: str = ""
    keep_empty: bool = False  # a global aggregate keeps its row when the count is 0
    recompute: Step | None = None
    recompute_inputs: tuple[Input, ...] = ()
    identified: bool = False  # OVERWRITE of a bag: rows get the columns BATCH_COLUMN and ROW_COLUMN
    approximate: tuple[str, ...] = ()


STORED_ROWS = "__ivm_state_found"  # the input with the state's rows as the batch finds them
RECOMPUTED_KEYS = "__ivm_recomputed_keys"
VANISHED = "__ivm_vanished"  # boolean column of a REPLACE_GROUPS step
BATCH_COLUMN = "__ivm_batch"  # hidden columns of a bag state: together unique per stored row
ROW_COLUMN = "__ivm_row"


@dataclass(frozen=True, slots=True)
class MaintenanceJob:
    """Everything that a batch of ``view`` does, for one pattern of changed base tables."""

    view: str
    fingerprint: str  # of the view's normalised plan
    strategy: Strategy
    reason: Reason
    changed: tuple[str, ...]  # base tables assumed to have changes
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    write: Write
    version: int = field(default=1)

    def to_json(self) -> str:
        """The job as JSON text; ``from_json`` reads it back to an equal value."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> MaintenanceJob:
        """Read what ``to_json`` wrote."""
        raw: dict[str, Any] = json.loads(text)
        return cls(
            view=raw["view"],
            fingerprint=raw["fingerprint"],
            strategy=Strategy(raw["strategy"]),
            reason=Reason(raw["reason"]),
            changed=tuple(raw["changed"]),
            inputs=tuple(_input(item) for item in raw["inputs"]),
            steps=tuple(Step(**item) for item in raw["steps"]),
            write=_write(raw["write"]),
            version=raw["version"],
        )


def _input(raw: dict[str, Any]) -> Input:
    return Input(
        name=raw["name"],
        table=raw["table"],
        slice=Slice(raw["slice"]),
        columns=tuple(InputColumn(**item) for item in raw["columns"]),
        bounds=tuple(Bound(**item) for item in raw["bounds"]),
    )


def _write(raw: dict[str, Any]) -> Write:
    return Write(
        kind=WriteKind(raw["kind"]),
        step=raw["step"],
        keys=tuple(raw["keys"]),
        columns=tuple(raw["columns"]),
        merge=tuple(
            MergeColumn(item["name"], Combine(item["combine"]), item["type"], item["deleted"]) for item in raw["merge"]
        ),
        count=raw["count"],
        keep_empty=raw["keep_empty"],
        recompute=Step(**raw["recompute"]) if raw["recompute"] else None,
        recompute_inputs=tuple(_input(item) for item in raw["recompute_inputs"]),
        identified=raw["identified"],
        approximate=tuple(raw.get("approximate", ())),
    )
