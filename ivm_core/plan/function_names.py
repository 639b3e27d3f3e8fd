"""A function is known by its plain name, and by no other that Spark would know it by as well.

What is refused, what aggregates and what tells the time is told by names: `` `reflect`(…) `` and ``builtin.rand()`` would
pass for functions of a user's own.
"""

from __future__ import annotations

from sqlglot import exp

from ivm_core.errors import UnsupportedConstruct
from ivm_core.plan.scope import complaint
from ivm_core.plan.statement import is_word

_SPARKS_OWN = frozenset(["builtin", "session"])  # the schemas of its functions, in the catalogue `system`


def check_function_names(query: exp.Expr) -> None:
    """Raise UnsupportedConstruct for functions in backquotes or in a schema of Spark's own, and for IDENTIFIER()."""
    for node in query.walk():
        if isinstance(node, exp.Anonymous):
            _check_call(node)
        elif isinstance(node, exp.Column | exp.Table) and not isinstance(node.this, exp.Identifier | exp.Star):
            # A call that FILTER or WITHIN GROUP follows, or that stands in FROM.
            _check_schema(
                node,
                [part.name for part in (node.args.get("catalog"), node.args.get("db"), node.args.get("table")) if part],
            )


def _check_call(call: exp.Anonymous) -> None:
    if isinstance(call.this, exp.Identifier) and is_word(call.name):
        advice = f"Write it without backquotes: {call.name}(…)."
        raise complaint(UnsupportedConstruct, f"The function `{call.name}`() is refused. {advice}", call, call.name)
    if call.name.lower() == "identifier":
        advice = "Write the name itself."
        raise complaint(UnsupportedConstruct, f"IDENTIFIER() is refused. {advice}", call, "IDENTIFIER")
    dot = call.parent
    if isinstance(dot, exp.Dot) and dot.expression is call:
        _check_schema(call, [part.name for part in dot.this.find_all(exp.Identifier)])


def _check_schema(call: exp.Expr, schema: list[str]) -> None:
    """``schema``: what the function's name is qualified with."""
    if found := sorted(_SPARKS_OWN & {part.lower() for part in schema}):
        message = f"A function of the schema {found[0]} is refused. Write its name alone."
        raise complaint(UnsupportedConstruct, message, call, found[0])
