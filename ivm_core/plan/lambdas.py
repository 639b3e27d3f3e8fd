"""Parameters of lambda functions: told from columns when names are looked up, and renamed where a column has their name."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp


def bind_parameters(expression: exp.Expression) -> exp.Expression:
    """A copy in which a name that a lambda function declares is its parameter: to Spark, A and a are one.

    >>> from sqlglot import parse_one
    >>> bound = bind_parameters(parse_one("transform(l, A -> a + b)", dialect="spark"))
    >>> [found.name for found in bound.find_all(exp.Column)]
    ['l', 'b']
    """
    if expression.find(exp.Lambda) is None:
        return expression
    tree = expression.copy()
    for function in tree.find_all(exp.Lambda):
        declared = {parameter.name.lower(): parameter for parameter in function.expressions}
        for found in list(function.find_all(exp.Column)):
            first, *fields = found.parts
            if first.name.lower() not in declared:
                continue
            value: exp.Expr = declared[first.name.lower()].copy()
            for field in fields:
                value = exp.Dot(this=value, expression=field.copy())
            found.replace(value)
    return tree


def rename_parameters(expression: exp.Expression, taken: frozenset[str]) -> exp.Expression:
    """A copy in which no parameter is called like one of ``taken`` (in lower case).

    >>> from sqlglot import parse_one
    >>> rename_parameters(parse_one("transform(l, a -> a + b)", dialect="spark"), frozenset(["a"])).sql("spark")
    'TRANSFORM(l, a_2 -> a_2 + b)'
    """
    if expression.find(exp.Lambda) is None:
        return expression
    declared = {parameter.name.lower() for node in expression.find_all(exp.Lambda) for parameter in node.expressions}
    tree = expression.copy()
    _rename(tree, {}, taken, frozenset(declared))
    return tree


def _rename(node: exp.Expr, names: Mapping[str, str], taken: frozenset[str], declared: frozenset[str]) -> None:
    if isinstance(node, exp.Lambda):
        own = {p.name.lower(): _choose(p.name, taken, declared) for p in node.expressions}
        names = {**names, **own}
        for parameter in node.expressions:
            parameter.set("this", own[parameter.name.lower()])
    for child in list(node.iter_expressions()):
        if not isinstance(child, exp.Identifier):
            _rename(child, names, taken, declared)
        elif _is_value(child) and child.name.lower() in names:
            child.set("this", names[child.name.lower()])


def _is_value(identifier: exp.Identifier) -> bool:
    """Whether the identifier stands for a value, not for a field, a name given, or a parameter declared."""
    match identifier.parent:
        case exp.Column() | exp.Alias() | exp.ColumnDef() | exp.Table() | exp.TableAlias():
            return False
        case exp.Lambda():
            return identifier.arg_key == "this"
        case exp.Dot():
            return identifier.arg_key == "this"
        case exp.PropertyEQ() | exp.Kwarg():
            return identifier.arg_key == "expression"
        case _:
            return True


def _choose(name: str, taken: frozenset[str], declared: frozenset[str]) -> str:
    chosen, number = name, 2
    while chosen.lower() in taken or (chosen != name and chosen.lower() in declared):
        chosen, number = f"{name}_{number}", number + 1
    return chosen
