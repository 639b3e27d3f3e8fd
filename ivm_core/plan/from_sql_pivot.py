"""PIVOT as an aggregate with one filtered call for each cell, UNPIVOT as a generator over an array of the columns."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.block import Block
from ivm_core.plan.from_sql_aggregates import has_aggregate, replace_aggregates
from ivm_core.plan.from_sql_groups import Groups
from ivm_core.plan.nodes import Filter, Generate, Named, Project, column, keep, references
from ivm_core.plan.padding import AS_IT_IS
from ivm_core.plan.rewrite import as_operand, both, expect_expression, struct_of, value_where
from ivm_core.plan.scope import Field, Relation, Scope, complaint, match_field, refusal, resolve
from ivm_core.plan.spark_names import spark_name
from ivm_core.plan.types import FRACTIONAL, INTEGRAL, common_type, digits, suffixed
from ivm_core.plan.types_expression import type_of
from ivm_core.plan.types_plan import types_of

# NULL over no rows, as is a cell of which the pivot has no row.
_NULL_OF_NOTHING = (exp.Sum, exp.Min, exp.Max, exp.Avg)


def bind_pivot(source: Relation, pivot: exp.Pivot, scope: Scope) -> Relation:
    """The relation that PIVOT or UNPIVOT makes of its source."""
    word = "UNPIVOT" if pivot.args.get("unpivot") else "PIVOT"
    if source.correlated or source.values or len(pivot.args["fields"]) != 1:
        raise refusal(f"{word} here", pivot)
    inner = replace(scope, fields=source.fields)
    return _unpivot(source, pivot, inner) if pivot.args.get("unpivot") else _pivot(source, pivot, inner)


def _pivot(source: Relation, pivot: exp.Pivot, scope: Scope) -> Relation:
    """A cell is its aggregate over the group's rows with the cell's value; the other columns are the group.

    Where all aggregates are numbers or booleans, a cell without rows is NULL, even a count. Spark computes the others
    in another way, and there it is the aggregate over no rows.
    """
    (field,) = pivot.args["fields"]
    types = types_of(source.plan)
    keys = [expect_expression(resolve(item, scope)) for item in _parts(field.this)]
    calls = [(_label(item), expect_expression(resolve(item.unalias(), scope)), item) for item in pivot.expressions]
    kinds = [type_of(call, types) for _, call, _ in calls]
    for (_, call, item), kind in zip(calls, kinds, strict=True):
        if not has_aggregate(call) or call.find(exp.Placeholder):
            raise complaint(DefinitionError, "PIVOT takes aggregates, without subqueries.", item, "PIVOT")
        if kind is None:
            raise refusal("PIVOT with an aggregate of unknown type", item, "CAST it to a type.")
    strict = all(kind in (*INTEGRAL, *FRACTIONAL, "boolean") or digits(kind) for kind in kinds)
    if any(types.get(name) in FRACTIONAL for key in keys for name in references(key)):
        raise refusal("PIVOT by a column of floating-point numbers", field, "CAST it to DECIMAL.")
    used = {name for expression in (*keys, *(call for _, call, _ in calls)) for name in references(expression)}
    around = [f for f in source.fields if f.starred and f.name not in used]
    groups = Groups(Block(scope, source.plan))
    for f in around:
        groups.add_key(column(f.name), f.label)
    cells: list[tuple[str, exp.Expression]] = []
    for value in field.expressions:
        condition = _equal(keys, value, types, as_it_is=strict)
        for label, call, item in calls:
            name = _cell_name(value, label, item, len(calls) > 1)
            cells.append((name, groups.over(_cell(call, condition, strict), name)))
    groups.close()
    made = [Named(scope.context.fresh(name), cell) for name, cell in cells]
    plan = Project(groups.block.plan, (*keep(tuple(f.name for f in around)), *made))
    fields = (*around, *(Field(name, item.name) for (name, _), item in zip(cells, made, strict=True)))
    return Relation(plan, fields, one_row=not around, at_most_one_row=not around)


def _cell(call: exp.Expression, condition: exp.Expression, strict: bool) -> exp.Expression:
    def filtered(aggregate: exp.Expression) -> exp.Expression:
        return exp.Filter(this=aggregate.copy(), expression=exp.Where(this=condition.copy()))

    cell = replace_aggregates(call, filtered)
    if not strict or isinstance(call, _NULL_OF_NOTHING):
        return cell
    rows = filtered(exp.Count(this=exp.Star(), big_int=True))
    present = exp.GT(this=rows, expression=exp.Literal.number(0))
    return value_where(present, cell)


def _equal(
    keys: list[exp.Expression], value: exp.Expr, types: dict[str, str | None], *, as_it_is: bool
) -> exp.Expression:
    """The condition for a cell: values are cast to the types of the columns, and NULL equals NULL.

    ``as_it_is``: not padded where the column is a CHAR, as where Spark looks the value up among those listed.
    """
    bare = value.this if isinstance(value, exp.PivotAlias) else value
    values = _parts(bare)
    if len(values) != len(keys) or any(item.find(exp.Column, exp.Query) for item in values):
        raise complaint(DefinitionError, f"PIVOT compares {len(keys)} columns with constants.", value, "PIVOT")
    tests = []
    for key, item in zip(keys, values, strict=True):
        kind = type_of(key, types)
        constant = exp.cast(item.copy(), kind, dialect="spark") if kind else item.copy()
        tests.append(exp.NullSafeEQ(this=as_operand(key), expression=constant))
        tests[-1].meta[AS_IT_IS] = as_it_is
    condition = both(*tests)
    assert condition is not None
    return condition


def _cell_name(value: exp.Expr, label: str | None, item: exp.Expr, several: bool) -> str:
    """Spark's: the value, with the aggregate where there are several."""
    first = value.alias if isinstance(value, exp.PivotAlias) else _text(value)
    second = label or spark_name(item.unalias()) if several else ""
    if first is None or second is None:
        raise complaint(DefinitionError, "Give it an alias: … AS name.", value if first is None else item, "alias")
    return f"{first}_{second}" if several else first


def _text(value: exp.Expr) -> str | None:
    """A constant as Spark casts it to text; None where it is not certain."""
    match value:
        case exp.Tuple():
            parts = [_text(item) for item in value.expressions]
            return f"{{{', '.join(map(str, parts))}}}" if None not in parts else None
        case exp.Null():
            return "null"
        case exp.Boolean():
            return "true" if value.this else "false"
        case exp.Neg(this=exp.Literal() | exp.Var() as number):
            text = _text(number)
            return f"-{text}" if text and not number.is_string else None
        case exp.Var():
            known = suffixed(value)
            return str(known[0]) if known is not None else None
        case exp.Literal():
            digits_only = str(value.this).replace(".", "0", 1).isdigit() and str(value.this)[0] != "."
            return str(value.this) if value.is_string or (digits_only and str(value.this)[-1] != ".") else None
        case exp.Cast(this=exp.Literal() as literal, to=to) if to.this in (exp.DType.BIGINT, exp.DType.INT):
            return str(literal.this) if not literal.is_string else None
    return None


def _unpivot(source: Relation, pivot: exp.Pivot, scope: Scope) -> Relation:
    """A row for each of the listed columns: its name, and its value. Rows without a value only if NULLS are included."""
    (field,) = pivot.args["fields"]
    types = types_of(source.plan)
    value_labels = [item.name for item in _parts(pivot.expressions[0])]
    entries: list[tuple[str, list[Field]]] = []
    for item in field.expressions:
        bare = item.this if isinstance(item, exp.PivotAlias) else item
        found = [_field(part, scope) for part in _parts(bare)]
        if len(found) != len(value_labels):
            raise complaint(DefinitionError, f"UNPIVOT needs {len(value_labels)} columns each.", item, "UNPIVOT")
        label = item.alias if isinstance(item, exp.PivotAlias) else "_".join(f.label for f in found)
        entries.append((label, found))
    kinds = [common_type(*(types.get(fs[place].name) for _, fs in entries)) for place in range(len(value_labels))]
    if None in kinds:
        raise refusal("UNPIVOT of columns without one known type", field, "CAST them to one type.")
    labels = (field.this.name, *value_labels)
    outputs = tuple(scope.context.fresh(label) for label in labels)
    structs = [
        struct_of(
            (f"c{place}", value)
            for place, value in enumerate(
                (
                    exp.Literal.string(label),
                    *(
                        exp.cast(column(f.name), str(kind), dialect="spark")
                        if types.get(f.name) != kind
                        else column(f.name)
                        for f, kind in zip(found, kinds, strict=True)
                    ),
                )
            )
        )
        for label, found in entries
    ]
    plan: Generate | Filter = Generate(source.plan, exp.Inline(this=exp.Array(expressions=structs)), outputs)
    if not pivot.args.get("include_nulls"):
        present = [exp.Not(this=exp.Is(this=column(name), expression=exp.null())) for name in outputs[1:]]
        plan = Filter(plan, expect_expression(exp.or_(*present)))
    used = {f.name for _, found in entries for f in found}
    around = tuple(f for f in source.fields if f.starred and f.name not in used)
    return Relation(plan, (*around, *(Field(label, name) for label, name in zip(labels, outputs, strict=True))))


def _field(node: exp.Expr, scope: Scope) -> Field:
    found = match_field(scope, tuple(part.name for part in node.parts), node) if isinstance(node, exp.Column) else None
    if found is None or found[1]:
        raise complaint(DefinitionError, "UNPIVOT takes columns of its table.", node, "UNPIVOT")
    return found[0]


def _parts(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node.unnest()]


def _label(item: exp.Expr) -> str | None:
    return item.alias if isinstance(item, exp.Alias) else None
