"""A SELECT while it is bound: what FROM, WHERE and GROUP BY have made of it so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from ivm_core.plan.nodes import Plan
from ivm_core.plan.scope import Scope


@dataclass
class Block:
    """A SELECT under construction: its plan so far, and the conditions that reach into the enclosing query."""

    scope: Scope
    plan: Plan
    correlated: list[exp.Expression] = field(default_factory=list)
