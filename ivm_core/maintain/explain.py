"""Explain how a view is maintained: plan, delta plan, strategy per operator, generated SQL. Creates nothing."""

from __future__ import annotations

from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta.differentiate import differentiate
from ivm_core.delta.keys import netted
from ivm_core.delta.linearity import classify, rule_of
from ivm_core.delta.reasons import Code
from ivm_core.delta.state import StateKind, StateLayout
from ivm_core.delta.states import after
from ivm_core.errors import NoRule
from ivm_core.job.build import batch_job, full_job
from ivm_core.job.compile import CompiledView
from ivm_core.job.model import MaintenanceJob
from ivm_core.job.parts import pinned
from ivm_core.job.strategy import strategy_of, unmatched_column
from ivm_core.maintain.auxiliaries import check_properties
from ivm_core.maintain.check import compile_checked
from ivm_core.maintain.model import Explanation, OperatorStrategy
from ivm_core.maintain.register import check_free
from ivm_core.maintain.session import Session
from ivm_core.plan.definition import ViewDefinition, parse_definition
from ivm_core.plan.explain import explain as plan_text
from ivm_core.plan.names import qualified
from ivm_core.plan.nodes import Project, Scan, operators

_STATE = {
    StateKind.MERGED_GROUPS: "one row per group with hidden accumulators, to which a batch adds",
    StateKind.RECOMPUTED_GROUPS: "one finished row per group; the groups that a batch touches are computed again",
    StateKind.BAG: "the query's rows",
}


def explain(session: Session, view_or_sql: str) -> Explanation:
    """Explain a registered view by name, or a CREATE statement. Raises UnknownViewError, DefinitionError."""
    compiled, definition = _compiled(session, view_or_sql)
    everything = frozenset(compiled.tables)
    strategy, reason, detail, job, delta = (
        Strategy.FULL,
        Reason.UNSUPPORTED_OPERATOR,
        "",
        full_job(compiled, Reason.REQUESTED),
        "",
    )
    try:
        strategy, reason, detail = strategy_of(compiled)
        job = batch_job(compiled, everything, strategy, reason, dict(session.facts(compiled.tables)))
        delta = plan_text(pinned(netted(differentiate(compiled.layout.source, everything))))
    except NoRule as error:
        strategy, reason, detail = Strategy.FULL, Reason.UNSUPPORTED_OPERATOR, str(error)
        delta = plan_text(pinned(after(compiled.layout.stored, everything)))
    return Explanation(
        view=compiled.name,
        plan=plan_text(compiled.plan),
        delta=delta,
        strategy=strategy,
        reason=reason,
        detail=detail,
        state=_state(compiled.layout),
        operators=operator_strategies(compiled),
        sql={step.name: step.sql for step in job.steps},
        job=job.to_json(),
        kept=tuple(view.name for view in definition.auxiliaries),
    )


def _state(layout: StateLayout) -> str:
    if layout.first is not None:
        return f"the query's first {layout.first.least} rows, and up to {layout.first.spare} more to spare"
    return _STATE[layout.kind] + (f" ({layout.reason})" if layout.reason else "")


def jobs(session: Session, view_or_sql: str) -> dict[str, MaintenanceJob]:
    """The generated jobs of a view: ``batch``, in which every base table changed, where it can be incremental, and ``full``."""
    compiled, _ = _compiled(session, view_or_sql)
    found = {"full": full_job(compiled, Reason.REQUESTED)}
    try:
        strategy, reason, _ = strategy_of(compiled)
        facts = dict(session.facts(compiled.tables))
        found["batch"] = batch_job(compiled, frozenset(compiled.tables), strategy, reason, facts)
    except NoRule:
        pass
    return found


def operator_strategies(compiled: CompiledView) -> tuple[OperatorStrategy, ...]:
    """How each operator of a view is maintained: what is done when it is read first, then parents before children."""
    layout = compiled.layout
    reading = (node for node in operators(layout.visible) if not isinstance(node, Project | Scan))
    found = [
        OperatorStrategy(r.operator, "when read", Code.WHEN_READ, "applied to the stored rows when the view is read")
        for node in reading
        if (r := rule_of(node)) is not None
    ]
    if layout.written is not None:
        (top, *_) = classify(layout.written)
        merged = layout.kind is StateKind.MERGED_GROUPS
        note = layout.reason or "the change of every touched group is added to its accumulators"
        strategy = "merged groups" if merged else "affected keys" if layout.keys else "whole"
        if top.code is Code.NO_RULE:
            found.append(OperatorStrategy(top.operator, "full", top.code, top.reason, top.code.advice))
        else:
            found.append(OperatorStrategy(top.operator, strategy, layout.code, note, layout.code.advice))
    if (unmatched := unmatched_column(layout)) is not None:
        name, reason, code = unmatched
        found.append(OperatorStrategy("the view's rows", "full", code, f"{name}: {reason}", code.advice))
    if layout.first is not None:
        note = f"kept with up to {layout.first.spare} rows to spare; where these have gone, all rows are ordered again"
        found.append(OperatorStrategy("limit", "first rows", Code.SPARE_ROWS, note))
    source = layout.grouped or layout.source
    found += [
        OperatorStrategy(r.operator, str(r.rule).replace("_", " "), r.code, r.reason, r.code.advice)
        for r in classify(source)
    ]
    return tuple(found)


def _compiled(session: Session, view_or_sql: str) -> tuple[CompiledView, ViewDefinition]:
    if len(view_or_sql.split()) == 1:
        view = session.catalog.view(qualified(view_or_sql))
        return session.compiled(view), parse_definition(view.sql)
    definition = parse_definition(view_or_sql)
    check_properties(definition)
    check_free(session, definition.name)
    return compile_checked(session, definition, learn=False), definition
