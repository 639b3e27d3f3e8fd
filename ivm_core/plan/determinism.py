"""A view's rows must depend on its tables only: what changes from run to run is refused, and ties are broken."""

from __future__ import annotations

from itertools import takewhile

from sqlglot import exp

from ivm_core.errors import NondeterministicError, UnsupportedConstruct
from ivm_core.plan.clock import clock_names
from ivm_core.plan.nodes import Limit, Named, Plan, Project, Window, column, keep
from ivm_core.plan.rewrite import transform_up
from ivm_core.plan.scope import complaint
from ivm_core.plan.types_plan import types_of

_RANDOM = "Its value differs from run to run. Remove it, or store the value in a base table."
_CLOCK = "Use now(), current_date() or localtimestamp() instead."
_SESSION = "Its value depends on who runs the query and where. Remove it."
_UNSAFE = "It runs code outside Spark SQL."

_CLASSES: dict[type[exp.Expr], str] = {
    exp.Rand: _RANDOM,
    exp.Randn: _RANDOM,
    exp.Uuid: _RANDOM,
    exp.Uniform: _RANDOM,
    exp.Randstr: _RANDOM,
    exp.Shuffle: _RANDOM,
    exp.CurrentTime: _CLOCK,
    exp.CurrentDatetime: _CLOCK,
    exp.Localtime: _CLOCK,
    exp.CurrentTimezone: _SESSION,
    exp.CurrentUser: _SESSION,
    exp.SessionUser: _SESSION,
    exp.CurrentSchema: _SESSION,
    exp.CurrentCatalog: _SESSION,
    exp.CurrentDatabase: _SESSION,
}
_NAMES = {
    **dict.fromkeys(["rand", "random", "randn", "uuid", "shuffle", "uniform", "randstr"], _RANDOM),
    "current_time": _CLOCK,
    **dict.fromkeys(
        [
            "current_user",
            "user",
            "session_user",
            "current_catalog",
            "current_database",
            "current_schema",
            "current_timezone",
            "version",
            "monotonically_increasing_id",
            "spark_partition_id",
            "input_file_name",
            "input_file_block_start",
            "input_file_block_length",
            "current_path",
        ],
        _SESSION,
    ),
    "measure": "It is for metric views only. Write the aggregate.",
}
_SPECIAL_WORDS = frozenset(["now", "today", "tomorrow", "yesterday"])
_UNSAFE_NAMES = frozenset(["java_method", "reflect", "try_reflect"])

# Their result depends on the order of rows that the window's ORDER BY leaves equal.
_SEE_ORDER = (
    exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.First, exp.Last,
    exp.ArrayAgg, exp.GroupConcat,
)  # fmt: skip


def check_determinism(query: exp.Expr) -> None:
    """Raise NondeterministicError for functions of chance, time or session, UnsupportedConstruct for unsafe ones."""
    for node in query.walk():
        if isinstance(node, exp.QueryTransform):
            raise complaint(UnsupportedConstruct, f"TRANSFORM … USING is refused. {_UNSAFE}", node, "TRANSFORM")
        name = str(node.this).lower() if isinstance(node, exp.Anonymous) else ""
        if name in _UNSAFE_NAMES:
            raise complaint(UnsupportedConstruct, f"{name}() is refused. {_UNSAFE}", node, name)
        if isinstance(node, exp.DataType) and node.this == exp.DType.TIME:
            raise complaint(UnsupportedConstruct, "The type TIME cannot be kept in a view.", node.parent, "TIME")
        if name == "aes_encrypt" and not _is_fixed_cipher(node):
            raise complaint(NondeterministicError, f"aes_encrypt() cannot be used in a view. {_RANDOM}", node, name)
        if (isinstance(node, exp.Collate) or name == "collate") and not isinstance(
            node.find_ancestor(exp.Where, exp.Query), exp.Where
        ):
            advice = "Delta stores no such strings. Compare and group by lower(…)."
            raise complaint(
                UnsupportedConstruct, f"COLLATE outside WHERE cannot be kept in a view. {advice}", node, "COLLATE"
            )
        word = _special_word(node)
        if word:
            message = f"{word!r} as a date or time cannot be used in a view. {_CLOCK}"
            raise complaint(NondeterministicError, message, node, word)
        reason = _NAMES.get(name) or _CLASSES.get(type(node))
        if reason:
            name = name or _sql_name(node)
            raise complaint(NondeterministicError, f"{name}() cannot be used in a view. {reason}", node, name)


def _special_word(node: exp.Expr) -> str:
    """``DATE 'today'``: a word that Spark reads as an instant where a date or time is wanted; "" for anything else."""
    if not isinstance(node, exp.Cast | exp.TsOrDsToDate) or not node.this.is_string:
        return ""
    if isinstance(node, exp.Cast) and not node.args["to"].is_type(*exp.DataType.TEMPORAL_TYPES):
        return ""
    word = "".join(takewhile(str.isalpha, str(node.this.this).strip().lower()))
    return word if word in _SPECIAL_WORDS else ""


def break_ties(plan: Plan) -> Plan:
    """Make row choices total: ORDER BY a LIMIT 3 → ORDER BY a, <all other columns> LIMIT 3; row_number() likewise.

    SQL leaves open which of equal rows comes first. The choice made here is one of the allowed ones, and the same in
    every run, which a batch needs to take back exactly what an earlier one put in.
    """
    return transform_up(plan, _break_tie)


def _break_tie(plan: Plan) -> Plan:
    match plan:
        case Limit(source, order, count, offset) if count != 0 and order:
            return Limit(source, (*order, *_rest(source, order)), count, offset)
        case Window(source, functions):
            return _order_in_turn(source, functions)
    return plan


def _order_in_turn(source: Plan, functions: tuple[Named, ...]) -> Plan:
    """ω_{f ORDER BY a, g ORDER BY b} Q → ω_{g ORDER BY b, a, f} ω_{f ORDER BY a, b} Q: of rows that are equal in all
    columns, g takes that for the first which f does."""
    first: exp.Expr | None = None
    now: list[Named] = []
    later: list[Named] = []
    for function in functions:
        total = _order_fully(source, function)
        order = total.expression.args["order"] if _sees_order(function.expression) else None
        first = order if first is None else first
        if order is None or order == first:
            now.append(total)
        else:
            later.append(function)
    window = Window(source, tuple(now))
    if not later:
        return window
    names = (*source.names, *(function.name for function in functions))
    return Project(_order_in_turn(window, tuple(later)), keep(names))


def _sees_order(window: exp.Expression) -> bool:
    """Whether the function tells rows apart that its ORDER BY leaves equal."""
    spec = window.args.get("spec")
    head = window.this.this if isinstance(window.this, exp.IgnoreNulls | exp.RespectNulls) else window.this
    framed = spec is not None and str(spec.args.get("kind")).upper() == "ROWS"
    if window.args.get("order") is None or not (isinstance(head, _SEE_ORDER) or framed):
        return False
    return spec is None or framed  # RANGE takes all peers together, and allows one ORDER BY expression only


def _order_fully(source: Plan, function: Named) -> Named:
    window = function.expression
    if not _sees_order(window):
        return function
    total = window.copy()
    items = tuple(window.args["order"].expressions)
    # Within a partition its keys are all equal.
    constant = frozenset(part.name for part in window.args.get("partition_by") or [] if isinstance(part, exp.Column))
    total.set("order", exp.Order(expressions=[*(i.copy() for i in items), *_rest(source, items, constant)]))
    return Named(function.name, total)


def _rest(
    source: Plan, order: tuple[exp.Expr, ...], constant: frozenset[str] = frozenset()
) -> tuple[exp.Expression, ...]:
    """The columns that the order does not name yet, ascending; maps and variants cannot be ordered, the time is one."""
    named = {item.this.name for item in order if isinstance(item.this, exp.Column)} | constant | clock_names(source)
    types = types_of(source)
    return tuple(
        exp.Ordered(this=column(name), nulls_first=True)
        for name in source.names
        if name not in named and not any(word in (types.get(name) or "") for word in ("map<", "variant"))
    )


def _is_fixed_cipher(call: exp.Expr) -> bool:
    """Whether aes_encrypt() takes no initialisation vector, or a given one: otherwise it throws the dice for it."""
    mode = call.expressions[2].name.upper() if len(call.expressions) > 2 else "GCM"
    given = call.expressions[4] if len(call.expressions) > 4 else exp.Literal.string("")
    return mode == "ECB" or not (isinstance(given, exp.Literal) and given.name == "")


def _sql_name(node: exp.Expr) -> str:
    return node.sql_name().lower() if isinstance(node, exp.Func) else node.key
