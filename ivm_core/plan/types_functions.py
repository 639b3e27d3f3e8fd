"""The types of Spark's functions whose result has one type, or the type of an argument (Spark's function reference).

By the name that sqlglot gives a function. None stands for "not known here": for functions that are not named below, and for
arguments for which Spark's answer is another one.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ivm_core.plan.functions import sql_name
from ivm_core.plan.types import FRACTIONAL, INTEGRAL, Type, common_type, parse_type, simple_string

TypeOf = Callable[[object], Type | None]

_BY_TYPE = {
    "boolean": "arrays_overlap forall contains is_nan isnull isnotnull equal_null is_valid_utf8 map_contains_key",
    "int": """array_size cardinality str_position regexp_count regexp_instr ascii hash levenshtein unix_date weekday
        bitwise_count
        bit_length octet_length json_array_length find_in_set""",
    "bigint": """array_position crc32 xxhash64 str_to_unix unix_seconds unix_millis factorial width_bucket timestampdiff""",
    "double": "months_between",
    "date": "next_day date_from_unix_date make_date",
    "timestamp": "timestamp_seconds timestamp_millis",
    "string": """array_to_string split_part regexp_extract regexp_substr repeat translate substring_index chr hex md5 sha sha2
        to_base64 soundex format_number format printf time_to_str unix_to_str dayname monthname conv bin typeof json_format
        json_extract_scalar space""",
    "binary": "from_base64 encode",
    "array<string>": "regexp_split json_keys",
    "map<string,string>": "str_to_map",
    "variant": "parse_json try_parse_json to_variant_object",
}
_FIXED = {name: type_ for type_, names in _BY_TYPE.items() for name in names.split()}
# Of text they make text, of bytes, of another array or map what is not told here.
_TEXT_OF_TEXT = frozenset(["pad", "reverse"])
_SAME_AS_FIRST = frozenset(
    ["array_distinct", "array_remove", "array_compact", "array_slice", "reverse", "map_filter", "nullifzero"]
)
_SAME_AS_ALL = frozenset(["array_union", "array_intersect", "array_except", "map_concat"])
_OF_TWO_INTEGERS = frozenset(["pmod", "safe_add", "safe_subtract", "safe_multiply"])
_BITWISE = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)
_SHIFTS = (exp.BitwiseLeftShift, exp.BitwiseRightShift)


def type_of_call(node: exp.Expr, of: TypeOf) -> Type | None:
    """The type of a function's result or of an operation on bits. ``of``: the type of an argument."""
    arguments = _arguments(node)
    types = [of(argument) for argument in arguments]
    first = types[0] if types else None
    if isinstance(node, _BITWISE):
        return common_type(*types) if all(type_ in INTEGRAL for type_ in types) else None
    if isinstance(node, exp.BitwiseNot):
        return first if first in INTEGRAL else None
    if isinstance(node, _SHIFTS):
        return first if first in ("int", "bigint") else None
    name = sql_name(node)
    if name in _FIXED:
        return _FIXED[name]
    if name in _TEXT_OF_TEXT and first == "string":
        return first
    if name in _SAME_AS_FIRST:
        return first if first is not None and first not in ("string", "void") else None
    if name in _SAME_AS_ALL:
        return first if len(set(types)) == 1 else None
    if name in _OF_TWO_INTEGERS:
        return common_type(*types) if all(type_ in INTEGRAL for type_ in types) else None
    match name:
        case "variant_get" | "try_variant_get":
            return _extracted(arguments)
        case "zeroifnull":
            return common_type(first, "int")
        case "nvl2":
            return common_type(*types[1:])
        case "safe_divide":
            return "double" if all(type_ in (*INTEGRAL, *FRACTIONAL) for type_ in types) else None
        case "array_max" | "array_min" | "get":
            return _part(first, exp.DType.ARRAY, 0)
        case "map_keys" | "map_values":
            part = _part(first, exp.DType.MAP, 0 if name == "map_keys" else 1)
            return f"array<{part}>" if part else None
        case "map":  # map_from_arrays
            parts = [_part(type_, exp.DType.ARRAY, 0) for type_ in types]
            return f"map<{parts[0]},{parts[1]}>" if len(parts) == 2 and all(parts) else None
        case "array_repeat":
            return f"array<{first}>" if first else None
        case _:
            return None


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


def _part(collection: Type | None, kind: exp.DType, place: int) -> Type | None:
    parsed = parse_type(collection) if collection else None
    if parsed is None or parsed.this != kind:
        return None
    return simple_string(parsed.expressions[place])
