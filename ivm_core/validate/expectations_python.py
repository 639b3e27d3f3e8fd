"""Expectations written as Great Expectations' Python classes, read as data: the file is parsed and never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from ivm_core.errors import DefinitionError
from ivm_core.validate.expectations import Expectation, read_items

_ABOUT_IT = ("severity", "notes")  # arguments that are no `kwargs` in the JSON form
_FORM = "such as `expectations = [gx.expectations.ExpectColumnValuesToNotBeNull(column='id')]`"


def read_python(text: str) -> tuple[Expectation, ...]:
    """The list ``expectations`` of a module that holds imports, constants and that list, and nothing else.

    Arguments are literals or names of constants. Raises DefinitionError, with the line, for anything else.

    >>> read_python("import great_expectations.expectations as gxe\\nexpectations = [gxe.ExpectColumnToExist(column='id')]")
    (Expectation(type='expect_column_to_exist', kwargs={'column': 'id'}, severity='critical', note=''),)
    """
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DefinitionError(f"This is not Python: {error}.", construct="expectations") from None
    constants: dict[str, Any] = {}
    for statement in module.body:
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.Assign(targets=[ast.Name(id="expectations")], value=ast.List(elts=calls)):
                return read_items([_item(call, constants) for call in calls])
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                constants[name] = _literal(value, constants)
            case _:
                raise _refusal(statement, "only imports, constants and one list of calls can be read")
    raise DefinitionError(f"The file has no list `expectations`, {_FORM}.", construct="expectations")


def _item(call: ast.expr, constants: Mapping[str, Any]) -> dict[str, Any]:
    """``gx.expectations.ExpectColumnToExist(column='id')`` as its JSON form."""
    match call:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[], keywords=keywords):
            given = {}
            for keyword in keywords:
                if keyword.arg is None:
                    raise _refusal(call, "arguments are written out, without **")
                given[keyword.arg] = _literal(keyword.value, constants)
        case _:
            raise _refusal(call, "a call with named arguments is expected")
    about = {key: given.pop(key) for key in _ABOUT_IT if key in given}
    return {"type": re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(), "kwargs": given, **about}


def _literal(value: ast.expr, constants: Mapping[str, Any]) -> Any:
    """A value that stands in the file; sets and tuples as lists."""
    match value:
        case ast.Name(id=name) if name in constants:
            return constants[name]
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_literal(item, constants) for item in items]
        case _:
            try:
                return ast.literal_eval(value)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                raise _refusal(value, "the file is read and not run, so values are literals or constants") from None


def _refusal(node: ast.expr | ast.stmt, why: str) -> DefinitionError:
    return DefinitionError(
        f"Not readable: {why}.", construct="expectations", line=node.lineno, column=node.col_offset + 1
    )
