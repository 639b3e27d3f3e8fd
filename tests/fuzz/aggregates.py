"""Random aggregates and window functions, with the type of each result."""

from __future__ import annotations

from random import Random

from tests.fuzz.expressions import ARRAY, DECIMAL, DOUBLE, INT, STRING, Col, Columns, Expressions

# Results of which DuckDB and Spark, or two orders of adding, may give other last digits: rounded where nothing is a tie.
INEXACT = "inexact"


def grouped_items(random: Random, expressions: Expressions, columns: Columns, keys: list[Col]) -> tuple[list[Col], str]:
    """One to three aggregates, some inside an expression, and a HAVING clause or nothing."""
    calls = [
        _filtered(random, expressions, columns, _call(random, expressions, columns))
        for _ in range(random.randint(1, 3))
    ]
    having = ""
    if keys and random.random() < 0.3:
        having = random.choice(
            (
                " HAVING count(*) > 1",
                f" HAVING {calls[0].sql} IS NOT NULL",
                " HAVING max({0}) = min({0})".format(columns[0].sql),
            )
        )
    return [_within(random, call) for call in calls], having


def sums_of_matches(random: Random, expressions: Expressions, columns: Columns) -> list[Col]:
    """One or two sums and counts to which the row that an outer join makes of no match adds nothing, and others like them."""
    value, condition = (
        expressions.value(columns, INT, depth=random.choice((0, 0, 1))),
        expressions.condition(columns, 0),
    )
    if random.random() < 0.2:
        both = [f"CAST(bool_and({condition}) AS INT)", f"count_if({condition})", f"count({condition})"]
        return [Col(call, DOUBLE) for call in random.sample(both, k=2)]
    calls = [Col(f"sum({zero})", DOUBLE) for zero in _zeros(value, condition)]
    calls += [Col(f"count({value.sql})", DOUBLE), Col(f"sum({value.sql})", DOUBLE), Col(f"max({value.sql})", INT)]
    return random.sample(calls, k=random.randint(1, 2))


def window_items(random: Random, expressions: Expressions, columns: Columns) -> list[Col]:
    """One or two window functions; where the order of rows counts, all columns are in it, and in one of them only."""
    made: list[Col] = []
    for _ in range(random.randint(1, 2)):
        partition = f"PARTITION BY {expressions.coarser(columns)}" if random.random() < 0.85 else ""
        some = random.choice(columns).sql
        everything = ", ".join([some, *(column.sql for column in columns)])
        value = random.choice(columns)
        numbers = [column.sql for column in columns if column.type == INT] or ["1"]
        number = random.choice(numbers)
        frame = random.choice(
            (
                "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
                "ROWS UNBOUNDED PRECEDING",
                "ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
            )
        )
        near = random.choice(
            (
                "RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
                "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
                "RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
            )
        )
        peers = [
            Col(f"CAST(rank() OVER ({partition} ORDER BY {some}) AS INT)", INT),
            Col(f"CAST(dense_rank() OVER ({partition} ORDER BY {some} DESC) AS INT)", INT),
            Col(f"CAST(count(*) OVER ({partition}) AS INT)", INT),
            Col(f"CAST(sum({number}) OVER ({partition}) AS INT)", INT),
            Col(f"CAST(sum({number}) OVER ({partition} ORDER BY {some}) AS INT)", INT),
            Col(f"CAST(sum({number}) OVER ({partition} ORDER BY {number} {near}) AS INT)", INT),
            Col(f"CAST(count({value.sql}) OVER ({partition} ORDER BY {number} DESC {near}) AS INT)", INT),
            Col(f"CAST(round(100 * percent_rank() OVER ({partition} ORDER BY {some}), 0) AS INT)", INT),
            Col(f"CAST(round(100 * cume_dist() OVER ({partition} ORDER BY {some}), 0) AS INT)", INT),
            Col(f"CAST(round(100 * avg({number}) OVER ({partition}), 0) AS INT)", INT),
            Col(f"max({value.sql}) OVER ({partition})", value.type),
        ]
        choices = [
            Col(f"CAST(row_number() OVER ({partition} ORDER BY {everything}) AS INT)", INT),
            Col(f"CAST(ntile(2) OVER ({partition} ORDER BY {everything}) AS INT)", INT),
            Col(f"CAST(sum({number}) OVER ({partition} ORDER BY {everything} {frame}) AS INT)", INT),
            Col(f"nth_value({value.sql}, 2) OVER ({partition} ORDER BY {everything})", value.type),
            Col(f"last_value({value.sql}) OVER ({partition} ORDER BY {everything} {frame})", value.type),
            Col(f"min({value.sql}) OVER ({partition} ORDER BY {everything} {frame})", value.type),
            Col(f"lag({value.sql}) OVER ({partition} ORDER BY {everything})", value.type),
            Col(f"last_value({value.sql}) IGNORE NULLS OVER ({partition} ORDER BY {everything})", value.type),
            Col(f"lag({number}, 1, -1) OVER ({partition} ORDER BY {everything})", INT),
            Col(f"lead({value.sql}, 2) OVER ({partition} ORDER BY {everything})", value.type),
            Col(f"first_value({value.sql}) OVER ({partition} ORDER BY {everything})", value.type),
        ]
        # Of two that tell equal rows apart, each may do so in its own way.
        made.append(random.choice(peers if made else [*peers, *choices]))
    return made


def _call(random: Random, expressions: Expressions, columns: Columns) -> Col:
    value = expressions.value(columns, depth=random.choice((0, 0, 1)))
    condition = expressions.condition(columns, 0)
    calls = [
        Col("count(*)", DOUBLE),
        Col(f"count({value.sql})", DOUBLE),
        Col(f"count(DISTINCT {value.sql})", DOUBLE),
        Col(f"min({value.sql})", value.type),
        Col(f"max({value.sql})", value.type),
        Col(f"count_if({condition})", DOUBLE),
        Col(f"CAST(bool_or({condition}) AS INT)", INT),
        Col(f"CAST(bool_and({condition}) AS INT)", INT),
    ]
    calls += [Col(f"{name}({value.sql}, {value.sql})", value.type) for name in ("min_by", "max_by")]
    calls += [Col(_of_one(value, f"{name}({value.sql})"), value.type) for name in ("any_value", "mode", "first")]
    if value.type == STRING:
        calls += [Col(f"listagg({value.sql}, ',') WITHIN GROUP (ORDER BY {value.sql})", STRING)]
        calls += [Col(f"listagg(DISTINCT {value.sql}) WITHIN GROUP (ORDER BY {value.sql})", STRING)]
        calls += [Col(_of_some(value, f"array_join(sort_array(collect_list({value.sql})), ',')"), STRING)]
    if value.type in (INT, DECIMAL):
        exact = DOUBLE if value.type == INT else INEXACT
        calls += [Col(f"{name}({value.sql})", DOUBLE) for name in ("sum", "sum")]
        calls += [Col(f"sum(DISTINCT {value.sql})", DOUBLE)]
        calls += [Col(f"{name}({value.sql})", exact) for name in ("avg", "avg", "median")]
        calls += [Col(f"percentile({value.sql}, {share})", INEXACT) for share in (0, 0.25)]
    if value.type == INT:
        calls += [
            Col(_of_some(value, f"sort_array({name}({value.sql}))"), ARRAY) for name in ("collect_list", "collect_set")
        ]
        calls += [Col(f"{name}({value.sql})", INT) for name in ("bit_and", "bit_or", "bit_xor")]
        calls += [Col(f"sum({zero})", DOUBLE) for zero in _zeros(value, condition)]
        calls += [Col(f"{name}({value.sql})", INEXACT) for name in ("var_pop", "stddev_samp")]
        other = expressions.value(columns, INT, 0)
        pair = f"{value.sql}, {other.sql}"
        calls += [Col(f"{name}({pair})", INEXACT) for name in ("covar_pop", "covar_samp", "regr_sxy")]
        calls += [Col(f"coalesce(regr_count({pair}), 0)", INEXACT)]  # of nothing, correlated, NULL in DuckDB
        calls += [Col(_of_points(value, other, f"corr({pair})"), INEXACT)]
    return random.choice(calls)


def _zeros(value: Col, condition: str) -> tuple[str, ...]:
    """What counts nothing for rows without a match of an outer join."""
    return f"coalesce({value.sql}, 0)", f"CASE WHEN {condition} THEN 1 ELSE 0 END", f"if({condition}, 2, 0)"


def _of_some(value: Col, collected: str) -> str:
    """NULL of nothing: it is an empty array in Spark, and NULL in DuckDB."""
    return f"CASE WHEN count({value.sql}) > 0 THEN {collected} END"


def _of_one(value: Col, chosen: str) -> str:
    """NULL unless there is one value to choose."""
    return f"CASE WHEN count({value.sql}) = count(*) AND count(DISTINCT {value.sql}) = 1 THEN {chosen} END"


def _of_points(one: Col, other: Col, computed: str) -> str:
    """NULL of points on a line that is upright or level: it is NULL in Spark, and NaN in DuckDB."""
    spread = (
        f"min({mine.sql}) FILTER (WHERE {its.sql} IS NOT NULL) < max({mine.sql}) FILTER (WHERE {its.sql} IS NOT NULL)"
        for mine, its in ((one, other), (other, one))
    )
    return f"CASE WHEN {' AND '.join(spread)} THEN {computed} END"


def _filtered(random: Random, expressions: Expressions, columns: Columns, call: Col) -> Col:
    if random.random() < 0.8 or call.sql.startswith(("CAST", "CASE")):
        return call
    return Col(f"{call.sql} FILTER (WHERE {expressions.condition(columns, 0)})", call.type)


def _within(random: Random, call: Col) -> Col:
    """The aggregate itself or an expression over it, of a type on which further queries can be built."""
    match call.type:
        case "inexact":
            # DuckDB's DECIMAL has no room for the product.
            return Col(f"CAST(round(CAST({call.sql} AS DOUBLE) * 1.2345678, 0) AS INT)", INT)
        case "double" if random.random() < 0.5:
            return Col(f"CAST(round({call.sql}, 0) AS INT)", INT)
        case "double":
            return Col(f"CAST({call.sql} AS DOUBLE)", DOUBLE)
        case "int" if random.random() < 0.2:
            return Col(f"(coalesce({call.sql}, -1) + 1)", INT)
        case _:
            return call
