"""The types of Spark's functions whose result has one type, or the type of an argument (Spark's function reference).

By the name that sqlglot gives a function, or an operator. None stands for "not known here": for functions that are not
named below, and for arguments for which Spark's answer is another one.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ivm_core.plan.functions import sql_name
from ivm_core.plan.types import (
    FRACTIONAL,
    INTEGRAL,
    MAX_PRECISION,
    Type,
    bounded,
    common_type,
    digits,
    parse_type,
    part_of,
    simple_string,
)

Types = list[Type | None]

_BY_TYPE = {
    "boolean": "arrays_overlap forall contains is_nan isnull isnotnull equal_null is_valid_utf8 map_contains_key",
    "int": """array_size cardinality str_position regexp_count regexp_instr ascii hash levenshtein unix_date weekday
        bitwise_count bit_length octet_length json_array_length find_in_set""",
    "bigint": """array_position crc32 xxhash64 str_to_unix unix_seconds unix_millis factorial width_bucket timestampdiff
        unix_timestamp""",
    "double": "months_between",
    "date": "next_day date_from_unix_date make_date trunc",
    "timestamp": "timestamp_seconds timestamp_millis to_timestamp date_trunc",
    "string": """array_to_string split_part regexp_extract regexp_substr repeat translate substring_index chr hex md5 sha sha2
        to_base64 soundex format_number format printf time_to_str unix_to_str dayname monthname conv bin typeof json_format
        json_extract_scalar space date_format from_unixtime get_json_object""",
    "binary": "from_base64 encode",
    "array<string>": "regexp_split json_keys",
    "map<string,string>": "str_to_map",
    "variant": "parse_json try_parse_json to_variant_object",
}
_FIXED = {name: type_ for type_, names in _BY_TYPE.items() for name in names.split()}


def _same(types: Types) -> Type | None:
    return types[0] if len(set(types)) == 1 else None


def _collection(types: Types) -> Type | None:
    """Of text, and of NULL, Spark makes something else."""
    return types[0] if types[0] not in ("string", "void") else None


def _text(types: Types) -> Type | None:
    """Of bytes Spark makes bytes."""
    return types[0] if types[0] == "string" else None


def _integral(types: Types) -> Type | None:
    return common_type(*types) if all(type_ in INTEGRAL for type_ in types) else None


def _shifted(types: Types) -> Type | None:
    return types[0] if types[0] in ("int", "bigint") else None


def _quotient(types: Types) -> Type | None:
    return "double" if all(type_ in (*INTEGRAL, *FRACTIONAL) for type_ in types) else None


def _tried_sum(types: Types) -> Type | None:
    """Where the sum has room in any order; an overflow, which is NULL, may depend on it."""
    size = digits(types[0])
    if size is not None:
        return bounded(size[0] + 10, size[1]) if size[0] + 10 <= MAX_PRECISION else None
    return "bigint" if types[0] in INTEGRAL[:3] else None


def _tried_average(types: Types) -> Type | None:
    size = digits(types[0])
    if _tried_sum(types) is None:
        return None
    return bounded(size[0] + 4, size[1] + 4) if size is not None else "double"


def _array_of(element: Type | None) -> Type | None:
    return f"array<{element}>" if element else None


_RULES: dict[str, Callable[[Types], Type | None]] = {
    **dict.fromkeys(
        ("array_distinct", "array_remove", "array_compact", "array_slice", "map_filter", "nullifzero"), _collection
    ),
    **dict.fromkeys(("array_union", "array_intersect", "array_except", "map_concat"), _same),
    **dict.fromkeys(("pmod", "safe_add", "safe_subtract", "safe_multiply"), _integral),
    **dict.fromkeys(("bitwiseand", "bitwiseor", "bitwisexor", "bitwisenot"), _integral),
    **dict.fromkeys(("bitwiseleftshift", "bitwiserightshift", "shiftrightunsigned"), _shifted),
    **dict.fromkeys(("array_max", "array_min", "get"), lambda types: part_of(types[0], exp.DType.ARRAY, 0)),
    "pad": _text,
    "reverse": lambda types: types[0] if types[0] != "void" else None,
    "safe_divide": _quotient,
    "try_sum": _tried_sum,
    "try_avg": _tried_average,
    "zeroifnull": lambda types: common_type(types[0], "int"),
    "nvl2": lambda types: common_type(*types[1:]),
    "map_keys": lambda types: _array_of(part_of(types[0], exp.DType.MAP, 0)),
    "map_values": lambda types: _array_of(part_of(types[0], exp.DType.MAP, 1)),
    "array_repeat": lambda types: _array_of(types[0]),
}


def type_of_call(node: exp.Expr, of: Callable[[exp.Expr], Type | None]) -> Type | None:
    """The type of a function's result or of an operation on bits. ``of``: the type of an argument."""
    name = sql_name(node) or node.key
    if name in _FIXED:
        return _FIXED[name]
    if name in ("variant_get", "try_variant_get"):
        return _extracted(_arguments(node))
    rule, arguments = _RULES.get(name), _arguments(node)
    return rule([of(argument) for argument in arguments]) if rule is not None and arguments else None


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    """The arguments in order; of a function that sqlglot does not know they are one list."""
    if isinstance(node, exp.Anonymous):
        return [argument for argument in node.expressions if isinstance(argument, exp.Expr)]
    return [
        part
        for value in node.args.values()
        for part in (value if isinstance(value, list) else [value])
        if isinstance(part, exp.Expr)
    ]


def _extracted(arguments: list[exp.Expr]) -> Type | None:
    """``variant_get(v, path, type)``; without a type a variant."""
    if len(arguments) < 3:
        return "variant"
    parsed = parse_type(arguments[2].name) if arguments[2].is_string else None
    return simple_string(parsed) if parsed is not None else None
