"""The Spark type of a scalar expression, an aggregate or a window function, from the types of its input columns."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ivm_core.plan.raising import is_raise
from ivm_core.plan.types import (
    FRACTIONAL,
    INTEGRAL,
    Type,
    adjusted,
    as_digits,
    bounded,
    common_type,
    decimal,
    digits,
    integer_type,
    literal_type,
    parse_type,
    part_of,
    simple_string,
    suffixed,
)
from ivm_core.plan.types_functions import type_of_call

Types = Mapping[str, Type | None]

_BOOLEAN = (
    exp.Predicate,
    exp.Connector,
    exp.Not,
    exp.Boolean,
    exp.LogicalAnd,
    exp.LogicalOr,
    exp.StartsWith,
    exp.EndsWith,
)
_INT = (
    exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfYear, exp.Week, exp.WeekOfYear, exp.Quarter,
    exp.Hour, exp.Minute, exp.Second, exp.Length, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile,
)  # fmt: skip
_BIGINT = (exp.Count, exp.CountIf, exp.RegrCount, exp.ApproxDistinct, exp.GroupingId, exp.IntDiv, exp.UnixMicros)
_DOUBLE = (
    exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop, exp.Corr, exp.CovarSamp, exp.CovarPop,
    exp.Sqrt, exp.Cbrt, exp.Exp, exp.Ln, exp.Log, exp.Pow, exp.PercentRank, exp.CumeDist, exp.Sin, exp.Cos, exp.Tan,
    exp.Asin, exp.Acos, exp.Atan, exp.Atan2, exp.Sinh, exp.Cosh, exp.Tanh, exp.Asinh, exp.Acosh, exp.Atanh, exp.Cot,
    exp.Sec, exp.Csc, exp.Degrees, exp.Radians, exp.Sign, exp.Rint, exp.Pi, exp.Skewness, exp.Kurtosis, exp.RegrSlope,
    exp.RegrIntercept, exp.RegrR2, exp.RegrSxx, exp.RegrSyy, exp.RegrSxy,
)  # fmt: skip
_STRING = (exp.Upper, exp.Lower, exp.Initcap, exp.Trim, exp.RegexpReplace, exp.Replace, exp.GroupConcat, exp.ConcatWs)
_DATE = (exp.TsOrDsAdd, exp.DateAdd, exp.DateSub, exp.AddMonths, exp.LastDay, exp.TsOrDsToDate, exp.DateTrunc)
_SAME_AS_FIRST = (
    exp.Paren, exp.Alias, exp.Min, exp.Max, exp.AnyValue, exp.First, exp.Last, exp.FirstValue, exp.LastValue,
    exp.NthValue, exp.ArgMax, exp.ArgMin, exp.Mode, exp.IgnoreNulls, exp.RespectNulls, exp.Abs, exp.Neg, exp.Nullif,
    exp.Window, exp.Filter, exp.ArrayFilter, exp.ArraySort, exp.BitwiseAndAgg, exp.BitwiseOrAgg, exp.BitwiseXorAgg,
)  # fmt: skip
_NAMED = {
    **dict.fromkeys(("hypot", "expm1", "log10", "log1p", "e"), "double"),
    "timestamp_micros": "timestamp",
    "to_date": "date",
}
_EXTRACTED_INT = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "DOW", "DOY", "HOUR", "MINUTE")
_PERCENTILES = ("percentile_cont", "percentile_disc")
_MOMENTS = ("date", "timestamp", "timestamp_ntz")
_DAY_UNITS = ("DAY", "WEEK", "MONTH", "YEAR", "QUARTER")


def type_of(expression: exp.Expr, input_types: Types) -> Type | None:
    """The Spark type of an expression over columns of the given types; None where it is not certain."""

    def of(node: object) -> Type | None:
        return type_of(node, input_types) if isinstance(node, exp.Expr) else None

    match expression:
        case exp.Column():
            return input_types.get(expression.name)
        case exp.Literal():
            return literal_type(expression)
        case exp.Var() | exp.Neg() if (known := integer_type(expression)) is not None:
            return known
        case exp.Null():
            return "void"
        case exp.Cast():  # TryCast too
            target = expression.args["to"]
            return simple_string(target) if isinstance(target, exp.DataType) else None
        case exp.Dot():
            return _field(of(expression.this), expression.expression.name)
        case exp.Bracket():
            return _element(of(expression.this))
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            return _arithmetic(expression, input_types)
        case exp.Case():
            branches = [branch.args["true"] for branch in expression.args["ifs"]]
            return common_type(*(of(b) for b in branches), of(expression.args.get("default") or exp.Null()))
        case exp.If():
            return common_type(of(expression.args["true"]), of(expression.args.get("false") or exp.Null()))
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            return common_type(of(expression.this), *(of(e) for e in expression.expressions))
        case exp.RegrAvgy(this=averaged) | exp.RegrAvgx(expression=averaged):
            return of(exp.Avg(this=averaged.copy()))
        case exp.Sum() | exp.Avg():
            return _sum_or_avg(expression, of(_argument(expression)))
        case exp.Round() | exp.Ceil() | exp.Floor():
            return _rounded(expression, of(expression.this))
        case exp.ArrayAgg() | exp.ArrayUniqueAgg():
            element = of(_argument(expression))
            return f"array<{element}>" if element else None
        case exp.Array() | exp.VarMap() | exp.Map() | exp.Struct():
            return _constructed(expression, input_types)
        case exp.Lag() | exp.Lead():
            default = expression.args.get("default")
            return of(expression.this) if default is None or of(default) in (of(expression.this), "void") else None
        case exp.Extract():
            return _extracted(expression) if of(expression.expression) in _MOMENTS else None
        case exp.DateDiff():
            return "int" if expression.args.get("unit") is None else "bigint"
        case exp.Substring() | exp.Left() | exp.Right():
            return "string" if of(expression.this) == "string" else None
        case exp.DPipe() | exp.Concat():
            parts = expression.expressions or [expression.this, expression.expression]
            return "string" if all(of(part) in ("string", *INTEGRAL) for part in parts) else None
        case exp.TimestampTrunc():
            return "timestamp"
        case exp.Grouping():
            return "tinyint"
        case exp.ApproxQuantile():
            return None  # the type of its argument, or an array of that
        case exp.Median() | exp.Quantile():
            return _percentile(of(expression.this), expression.args.get("quantile"))
        case exp.WithinGroup(this=exp.Anonymous() as call) if str(call.this).lower() in _PERCENTILES:
            return _percentile(of(expression.expression.expressions[0].this), call.expressions[0])
        case exp.WithinGroup(this=exp.Mode()):
            return of(expression.expression.expressions[0].this)
        case exp.GenerateSeries():
            ends = [of(expression.args[end]) for end in ("start", "end")]
            return f"array<{common_type(*ends)}>" if all(end in INTEGRAL for end in ends) else None
        case exp.Anonymous() if str(expression.this).lower() in _NAMED:
            return _NAMED[str(expression.this).lower()]
        case exp.Anonymous() if is_raise(expression):
            return "void"
    if isinstance(expression, _SAME_AS_FIRST):
        first = of(_argument(expression))
        return None if first is not None and first.startswith("interval") else first
    for kinds, answer in (
        (_BOOLEAN, "boolean"), (_INT, "int"), (_BIGINT, "bigint"), (_DOUBLE, "double"), (_STRING, "string"), (_DATE, "date"),
    ):  # fmt: skip
        if isinstance(expression, kinds):
            return answer
    return type_of_call(expression, of)


def _constructed(expression: exp.Expr, input_types: Types) -> Type | None:
    """array(…), map(…), map_from_arrays(…) and struct(…)."""
    if isinstance(expression, exp.Array):
        element = common_type(*(type_of(item, input_types) for item in expression.expressions))
        return f"array<{element}>" if element else None
    if isinstance(expression, exp.VarMap | exp.Map):
        arrays = (type_of(expression.args[part], input_types) for part in ("keys", "values"))
        key, value = (part_of(array, exp.DType.ARRAY, 0) for array in arrays)
        return f"map<{key},{value}>" if key and value else None
    fields = []
    for item in expression.expressions:
        data_type = type_of(item.expression, input_types) if isinstance(item, exp.PropertyEQ) else None
        if data_type is None:
            return None
        fields.append(f"{item.this.name}:{data_type}")
    return f"struct<{','.join(fields)}>"


def _argument(expression: exp.Expr) -> exp.Expr | None:
    """The first argument, without DISTINCT."""
    first = expression.this
    if isinstance(first, exp.Distinct):
        first = first.expressions[0]
    return first if isinstance(first, exp.Expr) else None


def _arithmetic(expression: exp.Expr, input_types: Types) -> Type | None:
    left, right = expression.this, expression.expression
    if isinstance(right, exp.Interval) and isinstance(expression, exp.Add | exp.Sub):
        return _shifted(type_of(left, input_types), right)
    one, other = type_of(left, input_types), type_of(right, input_types)
    if isinstance(expression, exp.Add | exp.Sub) and one == "date" and other in INTEGRAL[:3]:
        return "date"
    if one in FRACTIONAL or other in FRACTIONAL:
        numeric = (*INTEGRAL, *FRACTIONAL)
        if (one in numeric or digits(one)) and (other in numeric or digits(other)):
            same_float = one == other == "float" and not isinstance(expression, exp.Div)
            return "float" if same_float else "double"
        return None
    if one in INTEGRAL and other in INTEGRAL:
        return "double" if isinstance(expression, exp.Div) else common_type(one, other)
    if digits(one) is None and digits(other) is None:
        return None
    return _decimal_arithmetic(expression, _operand_digits(left, one), _operand_digits(right, other))


def _operand_digits(operand: exp.Expr, data_type: Type | None) -> tuple[int, int] | None:
    """An integer literal in decimal arithmetic is as wide as it is written."""
    bare = operand.unnest()
    if isinstance(bare, exp.Neg):
        bare = bare.this
    if isinstance(bare, exp.Literal) and data_type in INTEGRAL:
        return len(str(int(bare.this))), 0
    written = suffixed(bare)
    if written is not None:
        return len(str(written[0])), 0
    return as_digits(data_type)


def _decimal_arithmetic(
    expression: exp.Expr, one: tuple[int, int] | None, other: tuple[int, int] | None
) -> Type | None:
    if one is None or other is None:
        return None
    (p1, s1), (p2, s2) = one, other
    match expression:
        case exp.Mul():
            return adjusted(p1 + p2 + 1, s1 + s2)
        case exp.Div():
            scale = max(6, s1 + p2 + 1)
            return adjusted(p1 - s1 + s2 + scale, scale)
        case exp.Mod():
            return adjusted(min(p1 - s1, p2 - s2) + max(s1, s2), max(s1, s2))
        case _:
            return adjusted(max(p1 - s1, p2 - s2) + max(s1, s2) + 1, max(s1, s2))


def _shifted(moment: Type | None, interval: exp.Interval) -> Type | None:
    """A date plus whole days or months stays a date."""
    unit = interval.args.get("unit")
    units = [unit.name] if isinstance(unit, exp.Var) else [] if unit else [*filter(str.isalpha, interval.name.split())]
    whole_days = bool(units) and all(each.upper().removesuffix("S") in _DAY_UNITS for each in units)
    if moment in ("timestamp", "timestamp_ntz"):
        return moment
    return "date" if moment == "date" and whole_days else None


def _sum_or_avg(expression: exp.Expr, data_type: Type | None) -> Type | None:
    size = digits(data_type)
    average = isinstance(expression, exp.Avg)
    if size is not None:
        return bounded(size[0] + 4, size[1] + 4) if average else bounded(size[0] + 10, size[1])
    if data_type in INTEGRAL:
        return "double" if average else "bigint"
    return "double" if data_type in FRACTIONAL else None


def _percentile(data_type: Type | None, share: exp.Expr | None) -> Type | None:
    """A DOUBLE of numbers, be it one of them or between them (``PercentileBase``); of a list of shares, a list."""
    one = share is None or (isinstance(share, exp.Literal) and not share.is_string)
    numeric = data_type in (*INTEGRAL, *FRACTIONAL) or digits(data_type) is not None
    return "double" if one and numeric else None


def _rounded(expression: exp.Expr, data_type: Type | None) -> Type | None:
    """Rounding may carry into one more integral digit (``RoundBase``)."""
    size = digits(data_type)
    if not isinstance(expression, exp.Round):
        if expression.args.get("decimals") is not None:
            return None
        if size is not None:
            return decimal(size[0], 0) if size[1] == 0 else bounded(size[0] - size[1] + 1, 0)
        return "bigint" if data_type in (*INTEGRAL, *FRACTIONAL) else None
    if size is None:
        return data_type if data_type in (*INTEGRAL, *FRACTIONAL) else None
    places = expression.args.get("decimals") or exp.Literal.number(0)
    if not isinstance(places, exp.Literal):
        return None
    scale = min(size[1], int(places.this))
    return bounded(size[0] - size[1] + 1 + scale, scale)


def _extracted(expression: exp.Extract) -> Type | None:
    unit = expression.name.upper()
    return "int" if unit in _EXTRACTED_INT else "decimal(8,6)" if unit == "SECOND" else None


def _field(data_type: Type | None, name: str) -> Type | None:
    parsed = parse_type(data_type) if data_type else None
    if parsed is None or parsed.this != exp.DType.STRUCT:
        return None
    return next((simple_string(f.args["kind"]) for f in parsed.expressions if f.name.lower() == name.lower()), None)


def _element(data_type: Type | None) -> Type | None:
    return part_of(data_type, exp.DType.ARRAY, 0) or part_of(data_type, exp.DType.MAP, 1)
