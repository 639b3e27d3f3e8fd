"""Window functions that tell rows apart which their ORDER BY leaves equal (peers), over rows in one certain order."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.errors import NondeterministicError
from ivm_core.plan.choices import COLLECTED, FIRST, LAST, choice_of, head_of, parts_of_row, settle, take_row
from ivm_core.plan.clock import clock_names
from ivm_core.plan.comparable import as_shown
from ivm_core.plan.functions import sql_name
from ivm_core.plan.nodes import Named, Plan, Project, Window, column, keep
from ivm_core.plan.over import ALL_AFTER, ALL_BEFORE, HERE, over, rows_between
from ivm_core.plan.rewrite import as_operand, expect_expression, value_where
from ivm_core.plan.scope import Context, complaint
from ivm_core.plan.types_plan import types_of

# These have no frame, and their result depends on the order of peers.
_WITHOUT_FRAME = (exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead)
_SEE_ORDER = (*_WITHOUT_FRAME, *FIRST, *LAST, exp.NthValue, *COLLECTED, exp.GroupConcat)
_WHOLE = (ALL_BEFORE, ALL_AFTER)
Order = list[exp.Expression]


def order_rows(plan: Window, context: Context) -> Plan:
    """ω_{f OVER (ORDER BY a)} Q → ω_{f OVER (ORDER BY a, <all other columns>)} Q, where f sees the order and no peers."""
    shared = _take_from_one_row(plan, context)
    if shared is not None:
        return shared
    types = types_of(plan.source)
    functions = tuple(Named(each.name, _settled(each.expression, types)) for each in plan.functions)
    over_peers = [each for each in functions if _takes_peers(each.expression, plan.source)]
    others = tuple(each for each in functions if each not in over_peers)
    result = _order_in_turn(plan.source, others) if others else plan.source
    for each in over_peers:
        result = _over_peers(result, each, _total_order(plan.source, each.expression), context)
    return result if result.names == plan.names else Project(result, keep(plan.names))


def _take_from_one_row(plan: Window, context: Context) -> Plan | None:
    """ω_{f = first(x) OVER w, g = first(y) OVER w} Q → π_{r.x, r.y} ω_{r = first(struct(x, y)) OVER w} Q where w has no
    order; and so of max_by and min_by with one key. None where no two functions choose among the same rows."""
    alike: dict[exp.Expression, list[Named]] = {}
    for each in plan.functions:
        window = each.expression
        choice = choice_of(expect_expression(window.this))
        if choice is not None and (window.args.get("order") is None or choice[0] in ("argmax", "argmin")):
            kind, of = choice
            same = _over_same(window, exp.Anonymous(this=kind, expressions=[of] if of else []))
            alike.setdefault(same, []).append(each)
    shared = [several for several in alike.values() if len(several) > 1]
    if not shared:
        return None
    taken: list[Named] = []
    shown: dict[str, exp.Expression] = {}
    for several in shared:
        row, parts = parts_of_row(several, context)
        calls = [expect_expression(each.expression.this) for each in several]
        taken.append(Named(row, _over_same(several[0].expression, take_row(calls))))
        shown |= parts
    others = tuple(each for each in plan.functions if each.name not in shown)
    ordered = order_rows(Window(plan.source, (*others, *taken)), context)
    return Project(ordered, tuple(Named(name, shown.get(name, column(name))) for name in plan.names))


def _over_same(window: exp.Expression, call: exp.Expression) -> exp.Expression:
    """Another function over a window."""
    copy = window.copy()
    copy.set("this", call.copy())
    return copy


def other_columns(source: Plan, order: tuple[exp.Expr, ...], constant: frozenset[str] = frozenset()) -> Order:
    """The columns that the order does not name yet, ascending; maps and variants by what they show, the time is one."""
    named = {item.this.name for item in order if isinstance(item.this, exp.Column)} | constant | clock_names(source)
    types = types_of(source)
    shown = (as_shown(column(name), types.get(name)) for name in source.names if name not in named)
    return [exp.Ordered(this=value, nulls_first=True) for value in shown if value is not None]


def _settled(window: exp.Expression, types: dict[str, str | None]) -> exp.Expression:
    """The window's function with its choice made, but not where the order of rows makes it."""
    if window.args.get("order") is not None and isinstance(head_of(window.this), _SEE_ORDER):
        return window
    settled = window.copy()
    settled.set("this", settle(expect_expression(window.this), types))
    return settled


def _order_in_turn(source: Plan, functions: tuple[Named, ...]) -> Plan:
    """ω_{f ORDER BY a, g ORDER BY b} Q → ω_{g ORDER BY b, a, f} ω_{f ORDER BY a, b} Q: of rows that are equal in all
    columns, g takes that for the first which f does."""
    first: exp.Expr | None = None
    now: list[Named] = []
    later: list[Named] = []
    for function in functions:
        total = _ordered_fully(source, function)
        order = total.expression.args["order"] if total is not function else None
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


def _ordered_fully(source: Plan, function: Named) -> Named:
    """The function over its rows in a total order; the very same where it sees none."""
    window = function.expression
    if not _sees_order(window) or _sees_peers(window):
        return function
    rows = window.args.get("spec") if _is_by_rows(window) else None
    if rows is None and _ends(window) == _WHOLE and not isinstance(head_of(window.this), _WITHOUT_FRAME):
        rows = rows_between(*_WHOLE)
    order = _total_order(source, window)
    return Named(function.name, over(expect_expression(window.this), _partition(window), order, rows))


def _over_peers(source: Plan, function: Named, total: Order, context: Context) -> Plan:
    """A frame that takes all peers or none: f's value for the last of them, in a total order, is that for each.

    f OVER (PARTITION BY p ORDER BY a) → last_value(g) OVER (PARTITION BY p, a ORDER BY n …) where g is f over the rows up
    to the current one, and n numbers them.
    """
    window = function.expression
    call, partition = expect_expression(window.this), _partition(window)
    peers = [*partition, *(item.this for item in window.args["order"].expressions)]
    whole = rows_between(*_WHOLE)
    ends = _ends(window)
    if ends == (HERE, HERE):
        among = total[len(window.args["order"].expressions) :]
        return Window(source, (Named(function.name, over(call, peers, among, whole)),))
    number = context.fresh("place")
    numbered = Named(number, over(exp.RowNumber(), partition, total, None))
    if ends in ((ALL_BEFORE, HERE), (HERE, ALL_AFTER)):
        each = Named(
            context.fresh(f"{context.hints[function.name][0]}_by_row"),
            over(call, partition, total, rows_between(*ends)),
        )
        pick = exp.LastValue if ends[1] == HERE else exp.FirstValue
        chosen = over(pick(this=column(each.name)), peers, [exp.Ordered(this=column(number), nulls_first=True)], whole)
        return Window(Window(source, (numbered, each)), (Named(function.name, chosen),))
    near = window.copy()
    near.set("this", _by_place(call, number))
    return Window(Window(source, (numbered,)), (Named(function.name, near),))


def _by_place(call: exp.Expression, number: str) -> exp.Expression:
    """``first_value(x)`` → ``min_by(x, n)``, for rows numbered by n: a function of the frame's rows in any order."""
    head = head_of(call)
    if not isinstance(head, (*FIRST, *LAST)):
        message = (
            f"{sql_name(head)}() over a frame of RANGE depends on which of equal rows comes first, so the result would "
            "change from run to run. Write a frame of ROWS."
        )
        raise complaint(NondeterministicError, message, call, sql_name(head))
    place: exp.Expression = column(number)
    if isinstance(call, exp.IgnoreNulls):
        present = exp.Not(this=exp.Is(this=as_operand(head.this), expression=exp.null()))
        place = value_where(present, place)
    return (exp.ArgMin if isinstance(head, FIRST) else exp.ArgMax)(this=head.this.copy(), expression=place)


def _sees_order(window: exp.Expression) -> bool:
    """Whether the function tells rows apart that its ORDER BY leaves equal."""
    head = head_of(window.this)
    if isinstance(head, exp.GroupConcat) and isinstance(head.this, exp.Order):
        return False
    return isinstance(head, _SEE_ORDER) or _is_by_rows(window)


def _takes_peers(window: exp.Expression, source: Plan) -> bool:
    """Whether it does so over a frame of peers that are not equal in all columns."""
    return _sees_peers(window) and len(_total_order(source, window)) > len(window.args["order"].expressions)


def _sees_peers(window: exp.Expression) -> bool:
    """Whether the function sees the order of a frame that takes peers together: a longer ORDER BY would change the frame."""
    if not _sees_order(window) or window.args.get("order") is None or _is_by_rows(window):
        return False
    head, ends = head_of(window.this), _ends(window)
    if isinstance(head, _WITHOUT_FRAME) or ends == _WHOLE:
        return False
    # The first row of all is the same for a shorter frame, unless NULLs are passed over.
    leading = isinstance(head, FIRST) and not isinstance(window.this, exp.IgnoreNulls)
    return not (leading and ends == (ALL_BEFORE, HERE))


def _is_by_rows(window: exp.Expression) -> bool:
    spec = window.args.get("spec")
    return spec is not None and str(spec.args.get("kind")).upper() == "ROWS"


def _ends(window: exp.Expression) -> tuple[str, str]:
    """Where the frame starts and ends, in SQL's words; the default is spelt out."""
    spec = window.args.get("spec")
    if spec is None:
        return ALL_BEFORE, HERE if window.args.get("order") is not None else ALL_AFTER
    return _end(spec, "start"), _end(spec, "end") if spec.args.get("end") is not None else HERE


def _end(spec: exp.Expr, name: str) -> str:
    value = spec.args[name]
    if isinstance(value, exp.Expr):
        return "at a distance"
    return " ".join(part.upper() for part in (value, spec.args.get(f"{name}_side")) if part)


def _partition(window: exp.Expression) -> Order:
    return [expect_expression(part) for part in window.args.get("partition_by") or []]


def _total_order(source: Plan, window: exp.Expression) -> Order:
    order = window.args.get("order")
    items = tuple(order.expressions) if order is not None else ()
    # Within a partition its keys are all equal.
    constant = frozenset(part.name for part in _partition(window) if isinstance(part, exp.Column))
    return [*(expect_expression(item.copy()) for item in items), *other_columns(source, items, constant)]
