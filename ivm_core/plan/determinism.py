"""A view's rows must depend on its tables only: what changes from run to run is refused, and ties are broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import NondeterministicError, UnsupportedConstruct
from ivm_core.plan.choices import settle_aggregates, take_from_one_row
from ivm_core.plan.comparable import comparable_keys
from ivm_core.plan.function_names import check_function_names
from ivm_core.plan.nodes import Aggregate, Limit, Named, Plan, Project, Window, operators, references
from ivm_core.plan.peers import order_rows, other_columns
from ivm_core.plan.prune import prune
from ivm_core.plan.rewrite import transform_up
from ivm_core.plan.scope import Context, Relation, complaint
from ivm_core.plan.special_words import USE_CLOCK, check_casts

_RANDOM = "Its value differs from run to run. Remove it, or store the value in a base table."
_SESSION = "Its value depends on who runs the query and where. Remove it."
_UNSAFE = "It runs code outside Spark SQL."

_CLASSES: dict[type[exp.Expr], str] = {
    exp.Rand: _RANDOM,
    exp.Randn: _RANDOM,
    exp.Uuid: _RANDOM,
    exp.Uniform: _RANDOM,
    exp.Randstr: _RANDOM,
    exp.Shuffle: _RANDOM,
    exp.CurrentTime: USE_CLOCK,
    exp.CurrentDatetime: USE_CLOCK,
    exp.Localtime: USE_CLOCK,
    exp.CurrentTimezone: _SESSION,
    exp.CurrentUser: _SESSION,
    exp.SessionUser: _SESSION,
    exp.CurrentSchema: _SESSION,
    exp.CurrentCatalog: _SESSION,
    exp.CurrentDatabase: _SESSION,
}
_NAMES = {
    **dict.fromkeys(["rand", "random", "randn", "uuid", "shuffle", "uniform", "randstr"], _RANDOM),
    # These sketches throw dice for the values that they drop.
    **dict.fromkeys([f"kll_sketch_agg_{of}" for of in ("bigint", "double", "float")], _RANDOM),
    **dict.fromkeys([f"kll_merge_agg_{of}" for of in ("bigint", "double", "float")], _RANDOM),
    **dict.fromkeys([f"kll_sketch_merge_{of}" for of in ("bigint", "double", "float")], _RANDOM),
    "current_time": USE_CLOCK,
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
_UNSAFE_NAMES = frozenset(["java_method", "reflect", "try_reflect"])


def check_determinism(query: exp.Expr) -> None:
    """Raise NondeterministicError for functions of chance, time or session, UnsupportedConstruct for unsafe ones."""
    check_function_names(query)
    for node in query.walk():
        if isinstance(node, exp.QueryTransform):
            raise complaint(UnsupportedConstruct, f"TRANSFORM … USING is refused. {_UNSAFE}", node, "TRANSFORM")
        name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
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
        reason = _NAMES.get(name) or _CLASSES.get(type(node))
        if reason:
            name = name or _sql_name(node)
            raise complaint(NondeterministicError, f"{name}() cannot be used in a view. {reason}", node, name)
    check_casts(query)


def break_ties(plan: Plan, context: Context) -> Plan:
    """Make row choices total: ORDER BY a LIMIT 3 → ORDER BY a, <all other columns> LIMIT 3; row_number() likewise,
    and so for aggregates that choose: first(x) → min(x).

    SQL leaves open which of equal rows comes first, or is taken. The choice made here is one of the allowed ones, and the
    same in every run, which a batch needs to take back exactly what an earlier one put in.
    """

    def rule(node: Plan) -> Plan:
        match node:
            case Limit(source, order, count, offset) if count != 0 and order:
                return Limit(source, (*order, *other_columns(source, order)), count, offset)
            case Window(_, functions) if not _are_settled(functions, context):
                return order_rows(node, context)
            case Aggregate(_, _, aggregates) if not _are_settled(aggregates, context):
                return _settle_groups(node, context)
        return node

    return transform_up(plan, rule)


def settle_choices(relation: Relation, context: Context) -> Relation:
    """Make the choices of a common table expression that is read more than once, by all of its columns.

    Each use is bound by itself and reads the columns that it needs. By those alone, two uses could take two of equal rows.
    """
    compared = {name for part in relation.correlated for name in references(part)} & set(relation.plan.names)
    whole = prune(relation.plan, frozenset(f.name for f in relation.fields) | compared)
    plan = break_ties(whole, context)
    if plan == whole:
        return relation
    for node in operators(plan):
        match node:
            case Window(_, made) | Aggregate(_, _, made):
                context.settled.update(each.name for each in made)
    return replace(relation, plan=plan)


def _are_settled(columns: tuple[Named, ...], context: Context) -> bool:
    return bool(columns) and all(each.name in context.settled for each in columns)


def _settle_groups(plan: Aggregate, context: Context) -> Plan:
    """The groups with their choices made, below the projections that show what was asked for."""
    from_one_row = _of_groups(comparable_keys(plan), lambda groups: take_from_one_row(groups, context))
    return _of_groups(from_one_row, lambda groups: settle_aggregates(groups, context))


def _of_groups(plan: Plan, rule: Callable[[Aggregate], Plan]) -> Plan:
    """The rule applied to the aggregate below projections."""
    if isinstance(plan, Project):
        return Project(_of_groups(plan.source, rule), plan.columns)
    assert isinstance(plan, Aggregate)
    return rule(plan)


def _is_fixed_cipher(call: exp.Expr) -> bool:
    """Whether aes_encrypt() takes no initialisation vector, or a given one: otherwise it throws the dice for it."""
    mode = call.expressions[2].name.upper() if len(call.expressions) > 2 else "GCM"
    given = call.expressions[4] if len(call.expressions) > 4 else exp.Literal.string("")
    return mode == "ECB" or not (isinstance(given, exp.Literal) and given.name == "")


def _sql_name(node: exp.Expr) -> str:
    return node.sql_name().lower() if isinstance(node, exp.Func) else node.key
