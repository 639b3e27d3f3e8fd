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
_CHANGED, _COMPUTED, _SOURCE, _TARGET, _THERE = "changed_keys", "computed", "source", "target", "is_there"


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
        return tuple(dict.fromkeys(_owner(table) for table in self.changed.find_all(exp.Table) if _is_changes(table)))


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
    changed = exp.select(*model.key).distinct().from_(_with_changes(model.changed).subquery("keys"))
    changed = renaming(changed, renamed)
    query = renaming(model.query, renamed)
    # Spark looks for the keys before it groups or numbers rows, where these do so by the keys.
    computed = (
        exp.select(f"{_COMPUTED}.*", exp.alias_(exp.true(), _THERE))
        .from_(query.subquery(_COMPUTED))
        .join(_CHANGED, on=_same(model.key, _COMPUTED, _CHANGED), join_type="left semi")
    )
    if model.unique:
        return [_merge(model, changed, computed)]
    target = exp.to_table(hand_name(model.view))
    delete = exp.Merge(
        this=exp.alias_(target.copy(), _TARGET, table=True),
        using=changed.subquery(_SOURCE),
        on=_same(model.key, _TARGET, _SOURCE),
        whens=exp.Whens(expressions=[exp.When(matched=True, then=exp.Var(this="DELETE"))]),
    )
    rows = exp.select(*model.query.named_selects).from_(computed.subquery()).with_(_CHANGED, changed)
    return [delete, exp.insert(rows, target, columns=model.query.named_selects)]


def _merge(model: HandWritten, changed: exp.Expr, computed: exp.Select) -> exp.Expr:
    columns = model.query.named_selects
    keys = [exp.alias_(exp.column(name, _CHANGED), f"key_{name}") for name in model.key]
    source = (
        exp.select(*keys, f"{_COMPUTED}.*")
        .from_(_CHANGED)
        .join(computed.subquery(_COMPUTED), on=_same(model.key, _CHANGED, _COMPUTED), join_type="left")
        .with_(_CHANGED, changed)
    )
    there = exp.column(_THERE, _SOURCE)
    values = [exp.column(name, _SOURCE) for name in columns]
    update = exp.Update(
        expressions=[exp.EQ(this=exp.column(name), expression=exp.column(name, _SOURCE)) for name in columns]
    )
    insert = exp.Insert(
        this=exp.Tuple(expressions=[exp.column(name) for name in columns]), expression=exp.Tuple(expressions=values)
    )
    gone = exp.Is(this=there.copy(), expression=exp.Null())
    return exp.Merge(
        this=exp.alias_(exp.to_table(hand_name(model.view)), _TARGET, table=True),
        using=source.subquery(_SOURCE),
        on=exp.and_(*(f"{_TARGET}.{name} = {_SOURCE}.key_{name}" for name in model.key)),
        whens=exp.Whens(
            expressions=[
                exp.When(matched=True, condition=gone, then=exp.Var(this="DELETE")),
                exp.When(matched=True, then=update),
                exp.When(matched=False, condition=there, then=insert),
            ]
        ),
    )


def _with_changes(query: exp.Query) -> exp.Query:
    """The query over the temporary views in place of the tables called ``….changes``."""
    written = query.copy()
    for table in list(written.find_all(exp.Table)):
        if _is_changes(table):
            table.replace(exp.alias_(exp.to_table(changes_name(_owner(table))), table.alias or "changes", table=True))
    return written


def _same(key: Iterable[str], left: str, right: str) -> exp.Condition:
    return exp.and_(*(f"{left}.{name} = {right}.{name}" for name in key))


def _is_changes(table: exp.Table) -> bool:
    return bool(table.catalog) and table.name == "changes"


def _owner(table: exp.Table) -> str:
    return f"{table.catalog}.{table.db}"
