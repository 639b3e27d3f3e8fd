"""Spark SQL types as text (``simpleString``): decimals, literals, and the common type of several.

The rules are those of Spark 4 with ANSI mode on and ``spark.sql.decimalOperations.allowPrecisionLoss`` (its default);
see ``DecimalPrecisionTypeCoercion`` and ``AnsiTypeCoercion`` in Spark's catalyst. None stands for "not known here".
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

Type = str
MAX_PRECISION = 38
MIN_ADJUSTED_SCALE = 6
INTEGRAL = ("tinyint", "smallint", "int", "bigint")
INTEGRAL_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
FRACTIONAL = ("float", "double")
_WITH_ZEROS = re.compile(r"\b(?:float|double)\b(?!:)")
SUFFIXES = {"L": "bigint", "S": "smallint", "Y": "tinyint"}  # of integers, as in 3L
# Spark groups by maps, and no more; by the others not even that. A colon ends the name of a struct's field.
_WITHOUT_GROUPS = re.compile(r"\b(?:variant|geometry|geography)\b(?!:)", re.IGNORECASE)
_WITHOUT_ORDER = re.compile(rf"\bmap<|{_WITHOUT_GROUPS.pattern}", re.IGNORECASE)
_FIELD = re.compile(r"(\bstruct<|,)\s*([^:<>,`]+):", re.IGNORECASE)
_CHAR = re.compile(r"char\(([0-9]+)\)")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_NAMES = {
    exp.DType.TEXT: "string",
    exp.DType.TIMESTAMPTZ: "timestamp",
    exp.DType.TIMESTAMPLTZ: "timestamp",
    exp.DType.TIMESTAMP: "timestamp",
    exp.DType.TIMESTAMPNTZ: "timestamp_ntz",
    exp.DType.NULL: "void",
}


def simple_string(data_type: exp.DataType) -> Type:
    """Spark's ``simpleString`` of a parsed type.

    >>> simple_string(exp.DataType.build("ARRAY<STRUCT<a: INT, b: DECIMAL(3, 1)>>", dialect="spark"))
    'array<struct<a:int,b:decimal(3,1)>>'
    """
    parameters = data_type.expressions
    kind = data_type.this
    if isinstance(kind, exp.Interval):
        return kind.sql("spark").lower()
    match kind:
        case exp.DType.DECIMAL:
            digits = [parameter.name for parameter in parameters]
            return decimal(int(digits[0]) if digits else 10, int(digits[1]) if len(digits) > 1 else 0)
        case exp.DType.ARRAY | exp.DType.MAP:
            inner = ",".join(simple_string(parameter) for parameter in parameters)
            return f"{kind.value.lower()}<{inner}>"
        case exp.DType.STRUCT:
            inner = ",".join(f"{field.name}:{simple_string(field.args['kind'])}" for field in parameters)
            return f"struct<{inner}>"
        case exp.DType.VARCHAR | exp.DType.CHAR if parameters:
            return f"{kind.value.lower()}({parameters[0].name})"
        case _:
            return _NAMES.get(kind, str(kind.value).lower())


@lru_cache(maxsize=4096)
def parse_type(text: Type) -> exp.DataType | None:
    """The sqlglot form of a Spark type, None where sqlglot does not know it. Do not mutate it.

    >>> parse_type("struct<first-name:string,order:struct<a:int>>").sql("spark")
    'STRUCT<`first-name`: STRING, `order`: STRUCT<`a`: INT>>'
    """
    plain = _built(text)
    if plain is not None and simple_string(plain) == text and all(_is_plain(f) for f in plain.find_all(exp.ColumnDef)):
        return plain
    # Spark does not quote names of fields here; at one that is a word of SQL's, or none at all, sqlglot stops reading.
    made = _built(_with_quoted_fields(text)) or plain
    return None if made is None or "<>" in simple_string(made) != text else made


def typed(value: exp.Expression, type_: Type | None) -> exp.Expression:
    """The value cast to the type; as it is where the type is not known, or has no spelling, like that of a bare NULL.

    >>> [typed(exp.null(), type_).sql("spark") for type_ in ("int", "void", None)]
    ['CAST(NULL AS INT)', 'NULL', 'NULL']
    """
    parsed = parse_type(type_) if type_ else None
    if parsed is None or "<>" in simple_string(parsed):
        return value.copy()
    return exp.cast(value.copy(), parsed.copy())


def _built(text: str) -> exp.DataType | None:
    try:
        return exp.DataType.build(text, dialect="spark")
    except (SqlglotError, ValueError):
        return None


def _is_plain(field: exp.ColumnDef) -> bool:
    return _PLAIN_NAME.fullmatch(field.name) is not None


def _with_quoted_fields(text: Type) -> str:
    """The type with each name before a colon in backquotes."""
    return _FIELD.sub(lambda found: f"{found[1]}{exp.to_identifier(found[2], quoted=True).sql('spark')}:", text)


def char_length(data_type: Type | None) -> int | None:
    """How long each text of a CHAR is; None of any other type.

    >>> char_length("char(5)"), char_length("varchar(5)")
    (5, None)
    """
    found = _CHAR.fullmatch(data_type or "")
    return int(found[1]) if found else None


def without_length(data_type: Type) -> Type:
    """The type of a table's column in Spark's expressions, where CHAR and VARCHAR are STRING.

    >>> [without_length(each) for each in ("char(5)", "varchar(5)", "int")]
    ['string', 'string', 'int']
    """
    return "string" if _is_text(data_type) else data_type


def part_of(collection: Type | None, kind: exp.DType, place: int) -> Type | None:
    """The type of an array's elements (0), of a map's keys (0) or values (1); None of what is not of that kind.

    >>> part_of("map<string,array<int>>", exp.DType.MAP, 1)
    'array<int>'
    """
    parsed = parse_type(collection) if collection else None
    return simple_string(parsed.expressions[place]) if parsed is not None and parsed.this == kind else None


def is_comparable(type_: Type | None) -> bool:
    """Whether values of the type can be joined by and ordered; unknown types are let through."""
    return type_ is None or _WITHOUT_ORDER.search(type_) is None


def holds_variants(type_: Type | None) -> bool:
    """Whether GROUP BY, which takes maps too, takes no values of the type; unknown types are taken for such without any."""
    return type_ is not None and _WITHOUT_GROUPS.search(type_) is not None


def holds_floating(type_: Type | None) -> bool:
    """Whether values of the type have parts that may be -0.0, which equals 0.0 and is shown as another text."""
    return type_ is not None and _WITH_ZEROS.search(type_) is not None


def decimal(precision: int, scale: int) -> Type:
    return f"decimal({precision},{scale})"


def digits(data_type: Type | None) -> tuple[int, int] | None:
    """Precision and scale of a decimal type, None for any other type."""
    if data_type is None or not data_type.startswith("decimal("):
        return None
    precision, _, scale = data_type.removeprefix("decimal(").removesuffix(")").partition(",")
    return int(precision), int(scale)


def as_digits(data_type: Type | None) -> tuple[int, int] | None:
    """The smallest decimal that holds every value of an integral or decimal type."""
    if data_type in INTEGRAL_DIGITS:
        return INTEGRAL_DIGITS[data_type], 0
    return digits(data_type)


def adjusted(precision: int, scale: int) -> Type:
    """A result wider than 38 digits gives up fraction digits, but keeps at least six (``adjustPrecisionScale``)."""
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    integral = precision - scale
    return decimal(MAX_PRECISION, max(MAX_PRECISION - integral, min(scale, MIN_ADJUSTED_SCALE)))


def bounded(precision: int, scale: int) -> Type:
    return decimal(min(precision, MAX_PRECISION), min(scale, MAX_PRECISION))


def literal_type(node: exp.Literal) -> Type:
    """The type of a literal as Spark reads it: the narrowest of int, bigint, decimal; a point makes a decimal.

    >>> [literal_type(exp.Literal.number(text)) for text in ("1", "3000000000", "0.05", "1e3")]
    ['int', 'bigint', 'decimal(2,2)', 'double']
    """
    text = str(node.this)
    if node.is_string:
        return "string"
    if "e" in text.lower():
        return "double"
    if "." in text:
        whole, _, fraction = text.partition(".")
        significant = len(f"{whole}{fraction}".lstrip("0"))
        return decimal(max(significant, len(fraction), 1), len(fraction))
    value = int(text)
    if -(2**31) <= value < 2**31:
        return "int"
    return "bigint" if -(2**63) <= value < 2**63 else decimal(len(text), 0)


def suffixed(node: exp.Expr) -> tuple[int, Type] | None:
    """The value and the type of an integer with a suffix, which the dialect keeps as it is written.

    >>> suffixed(exp.Var(this="3L"))
    (3, 'bigint')
    """
    text = node.name if isinstance(node, exp.Var) else ""
    return (int(text[:-1]), SUFFIXES[text[-1]]) if text[:-1].isdigit() and text[-1] in SUFFIXES else None


def integer_type(node: exp.Expr) -> Type | None:
    """The type of a whole number as it is written; None of anything else.

    >>> [integer_type(node) for node in (exp.Literal.number(-(2**31)), exp.Var(this="3L"), exp.column("a"))]
    ['int', 'bigint', None]
    """
    sign, digits = ("-", node.this) if isinstance(node, exp.Neg) else ("", node)
    if isinstance(digits, exp.Literal) and not digits.is_string and str(digits.this).isdigit():
        return literal_type(exp.Literal(this=f"{sign}{digits.this}", is_string=False))
    known = suffixed(digits)
    return known[1] if known is not None else None


def common_type(*types: Type | None) -> Type | None:
    """The type that CASE, COALESCE, UNION and the like give their inputs; None where one is unknown."""
    result: Type | None = "void"
    for data_type in types:
        if result is None or data_type is None:
            return None
        result = _wider(result, data_type)
    return result


def tells_apart(own: Type | None, other: Type | None) -> bool:
    """Whether a value of type ``other`` certainly equals one value of type ``own`` at most: ``=`` may cast before it compares.

    >>> [tells_apart(*types) for types in (("int", "bigint"), ("int", "string"), ("string", "int"), ("bigint", "double"))]
    [True, True, False, False]
    """
    if own is None or other is None:
        return False
    own, other = ("string" if _is_text(each) else each for each in (own, other))
    if other == "string" and own in (*INTEGRAL, *FRACTIONAL, "date", "timestamp", "timestamp_ntz", "boolean"):
        return True  # compared as BIGINT, DOUBLE or the type itself
    common = common_type(own, other)
    one, whole = as_digits(own), digits(common)
    if one is not None and whole is not None:
        return whole[1] >= one[1]
    exact = own in (*INTEGRAL[:3], "float") and common == "double"  # of a BIGINT or a decimal, DOUBLE drops digits
    return exact or common == own or (own in INTEGRAL and common in INTEGRAL)


def _is_text(data_type: Type) -> bool:
    return data_type.startswith(("varchar(", "char("))


def _wider(left: Type, right: Type) -> Type | None:
    if left == right or right == "void":
        return left
    if left == "void":
        return right
    if left in INTEGRAL and right in INTEGRAL:
        return max(left, right, key=INTEGRAL.index)
    numeric = (*INTEGRAL, *FRACTIONAL)
    if (left in FRACTIONAL or right in FRACTIONAL) and all(side in numeric or digits(side) for side in (left, right)):
        return "double"
    one, other = as_digits(left), as_digits(right)
    if one is not None and other is not None:
        return _wider_decimal(one, other)
    if {left, right} == {"date", "timestamp"}:
        return "timestamp"
    if {left, right} == {"date", "timestamp_ntz"}:
        return "timestamp_ntz"
    if left.startswith("array<") and right.startswith("array<"):
        element = _wider(left.removeprefix("array<")[:-1], right.removeprefix("array<")[:-1])
        return f"array<{element}>" if element else None
    return None


def _wider_decimal(one: tuple[int, int], other: tuple[int, int]) -> Type:
    """Both ranges and both scales; where 38 digits do not suffice, integral digits win."""
    scale = max(one[1], other[1])
    integral = max(one[0] - one[1], other[0] - other[1])
    if integral + scale <= MAX_PRECISION:
        return decimal(integral + scale, scale)
    return decimal(MAX_PRECISION, max(0, MAX_PRECISION - integral))
