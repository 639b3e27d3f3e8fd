"""A third way for the warehouse's models: incremental ones as they are written by hand, with dbt for instance.

Of each model that such a one pays for, ``warehouse/by_hand`` has the query of the unique keys that may have changed; in it,
``t.changes`` stands for what Delta's change feed tells of ``t`` since the last run. The model's rows of these keys are
computed anew and merged, as dbt does with the strategy ``merge``, here with a clause for rows that are gone. With
``-- delete+insert`` in the first line, the key has several rows, which are replaced in two commits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from bench.plain_spark import renaming
from bench.warehouse_data import FOLDER

if TYPE_CHECKING:
    from ivm_core.plan.definition import ViewDefinition

SCHEMA = "bench_hand"
_CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class HandWritten:
    """A model's query with that of its changed keys, whose columns are the key."""

    view: str
    query: exp.Query
    changed: exp.Query
    unique: bool

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(self.changed.named_selects)

    @property
    def reads(self) -> tuple[str, ...]:
        """The tables whose changes it looks at."""
        tables = (table for table in self.changed.find_all(exp.Table) if table.catalog and table.name == _CHANGES)
        return tuple(dict.fromkeys(f"{table.catalog}.{table.db}" for table in tables))


def read_models(views: Iterable[ViewDefinition]) -> tuple[HandWritten, ...]:
    """The hand-written ones of some models, in the order given."""
    models = []
    for view in views:
        layer, _, name = view.name.removeprefix("wh_").partition(".")
        file = FOLDER / "by_hand" / f"{layer}_{name}.sql"
        if file.exists():
            models.append(_parse(view, file))
    return tuple(models)


def _parse(view: ViewDefinition, file: Path) -> HandWritten:
    text = file.read_text("utf-8")
    changed = sqlglot.parse_one(text, dialect="spark")
    assert isinstance(changed, exp.Query) and isinstance(view.whole, exp.Query)
    return HandWritten(view.name, view.whole, changed, not text.startswith("-- delete+insert"))


def hand_name(view: str) -> str:
    """``wh_gold.v`` → ``bench_hand.wh_gold__v``: the table of a hand-written model."""
    return f"{SCHEMA}.{view.replace('.', '__')}"


def changes_name(table: str) -> str:
    """``wh_raw.t`` → ``changes_of_wh_raw__t``: the temporary view of a table's changes."""
    return f"changes_of_{table.replace('.', '__')}"


def statements(model: HandWritten, by_hand: Iterable[str]) -> list[exp.Expr]:
    """What brings a model up to date, over the temporary views ``changes_name`` of what it looks at."""
    renamed = {view: hand_name(view) for view in by_hand}
    changes = {f"{table}.{_CHANGES}": changes_name(table) for table in model.reads}
    changed = exp.select(*model.key).distinct().from_(renaming(model.changed, renamed | changes).subquery("keys"))
    # Spark looks for the keys before it groups or numbers rows, where these do so by the keys.
    computed = (
        exp.select("computed.*", "TRUE AS is_there")
        .from_(renaming(model.query, renamed).subquery("computed"))
        .join("changed", on=_same(model.key, "computed", "changed"), join_type="left semi")
    )
    target = exp.to_table(hand_name(model.view))
    return _merge(model, target, changed, computed) if model.unique else _replace(model, target, changed, computed)


def _merge(model: HandWritten, target: exp.Table, changed: exp.Select, computed: exp.Select) -> list[exp.Expr]:
    source = (
        exp.select(*(f"changed.{name} AS key_{name}" for name in model.key), "computed.*")
        .from_("changed")
        .join(computed.subquery("computed"), on=_same(model.key, "changed", "computed"), join_type="left")
        .with_("changed", changed)
    )
    merge = exp.merge(
        "WHEN MATCHED AND source.is_there IS NULL THEN DELETE",
        "WHEN MATCHED THEN UPDATE SET *",
        "WHEN NOT MATCHED AND source.is_there THEN INSERT *",
        into=exp.alias_(target, "target", table=True),
        using=source.subquery("source"),
        on=exp.and_(*(f"target.{name} = source.key_{name}" for name in model.key)),
        dialect="spark",
    )
    return [merge]


def _replace(model: HandWritten, target: exp.Table, changed: exp.Select, computed: exp.Select) -> list[exp.Expr]:
    columns = model.query.named_selects
    delete = exp.merge(
        "WHEN MATCHED THEN DELETE",
        into=exp.alias_(target, "target", table=True),
        using=changed.subquery("source"),
        on=_same(model.key, "target", "source"),
        dialect="spark",
    )
    rows = exp.select(*columns).from_(computed.subquery()).with_("changed", changed)
    return [delete, exp.insert(rows, target, columns=columns)]


def _same(key: Iterable[str], left: str, right: str) -> exp.Condition:
    return exp.and_(*(f"{left}.{name} = {right}.{name}" for name in key))
