"""Spark's SQL read so that it can be written again unchanged: sqlglot's dialect without the readings that lose something.

sqlglot reads some functions as others of a different meaning, type or name: ``to_char(x, '99')`` as a cast without its
format, ``listagg(x)`` with a comma that Spark does not put, ``max_by(x, y, 3)`` without its 3, ``log10(x)`` as
``log(10, x)``, which differs in its last bits.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError
from sqlglot.generators.spark import SparkGenerator
from sqlglot.tokenizer_core import Token, TokenType

from ivm_core.plan.dialect_functions import FUNCTION_PARSERS, FUNCTIONS
from ivm_core.plan.dialect_names import as_name, with_column_names
from ivm_core.plan.pipes import PipeParser
from ivm_core.plan.rows import field_name
from ivm_core.plan.types import SUFFIXES

_INTERVAL_UNITS = frozenset(
    f"{unit}{plural}"
    for unit in (
        "NANOSECOND", "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR",
    )
    for plural in ("", "S")
)  # fmt: skip


class SparkParser(PipeParser):
    """sqlglot's parser with other readings of a few functions, ``window(…)`` in GROUP BY, and ``variant:path``."""

    COLON_IS_VARIANT_EXTRACT = True
    SUPPORTS_TABLE_QUERY = True  # TABLE t
    FUNCTIONS: ClassVar = FUNCTIONS
    FUNCTION_PARSERS: ClassVar = {
        **FUNCTION_PARSERS,
        **dict.fromkeys(("LISTAGG", "STRING_AGG"), lambda self: _with_separator(self._parse_string_agg())),
    }
    KEY_VALUE_DEFINITIONS: ClassVar[Any] = (exp.Alias, exp.PropertyEQ)  # struct(a = b) holds a comparison
    TERM: ClassVar = {**PipeParser.TERM, TokenType.DPIPE: exp.DPipe}

    def parse(self, raw_tokens: list[Token], sql: str) -> list[exp.Expr | None]:
        """The statements' trees. ``WINDOW (`` is a call: the clause of that name goes on with a name."""
        raw_tokens = with_column_names(_without_time_zone(raw_tokens))
        following = [*raw_tokens[1:], None]
        return super().parse(
            [
                as_name(token)
                if token.token_type == TokenType.WINDOW and after is not None and after.token_type == TokenType.L_PAREN
                else token
                for token, after in zip(raw_tokens, following, strict=False)
            ],
            sql,
        )

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        """A join, with the PIVOT of its result, which sqlglot takes for one of ``b`` after ``a, b`` and ``a CROSS JOIN b``."""
        join = super()._parse_join(skip_join_token, parse_bracket, alias_tokens)
        pivots = join.this.args.get("pivots") if join is not None else None
        if join is not None and pivots and not join.args.get("using") and join.args.get("on") in (None, exp.true()):
            join.this.set("pivots", None)
            join.set("pivots", [*pivots, *(join.args.get("pivots") or [])])
        return join

    def _parse_bitwise(self) -> exp.Expr | None:
        """Shifts bind tighter than ``&``, that than ``^``, and that than ``|``; sqlglot has them all on one level."""
        return self._parse_bits((TokenType.PIPE, TokenType.CARET, TokenType.AMP))

    def _parse_bits(self, operators: tuple[TokenType, ...]) -> exp.Expr | None:
        if not operators:
            return self._parse_shifts()
        loosest, *tighter = operators
        this = self._parse_bits(tuple(tighter))
        while self._match(loosest):
            this = self.expression(self.BITWISE[loosest](this=this, expression=self._parse_bits(tuple(tighter))))
        return this

    def _parse_shifts(self) -> exp.Expr | None:
        this = self._parse_term()
        while True:
            if self._match_pair(TokenType.LT, TokenType.LT):
                this = self.expression(exp.BitwiseLeftShift(this=this, expression=self._parse_term()))
            elif self._match_pair(TokenType.GT, TokenType.GT):
                unsigned = self._match(TokenType.GT)
                by = self._parse_term()
                this = self.expression(
                    exp.Anonymous(this="shiftrightunsigned", expressions=[this, by])
                    if unsigned
                    else exp.BitwiseRightShift(this=this, expression=by)
                )
            else:
                return this

    def _warn_unsupported(self) -> None:
        """Nothing: whoever asked says in one error what is no query, and a log would repeat the text."""

    def build_cast(self, strict: bool, **arguments: object) -> exp.Expr:
        """``3L`` as it is written: Spark takes no CAST for a number, whose digits count in decimal arithmetic."""
        value, suffix = arguments["this"], self._prev.text.upper()
        if suffix in SUFFIXES and isinstance(value, exp.Literal) and not value.is_string:
            return exp.Var(this=f"{value.name}{suffix}")
        return super().build_cast(strict, **arguments)

    def _to_prop_eq(self, expression: exp.Expr, index: int) -> exp.Expr:
        """A field of ``struct(…)`` under the name that Spark gives it."""
        if expression.is_star or isinstance(expression, exp.PropertyEQ):
            return expression
        return self.expression(exp.PropertyEQ(this=field_name(expression, f"col{index + 1}"), expression=expression))

    def _parse_interval(self, require_interval: bool = True, parse_function_unit: bool = True) -> exp.Interval | None:
        """One literal. sqlglot would add what follows, without parentheses, and go on over a plus to any number."""
        several = self._parse_units()
        if several is not None:
            return several
        index = self._index
        if not self._match(TokenType.INTERVAL) and require_interval:
            return None
        value = self._parse_primary() if self._match(TokenType.STRING, advance=False) else self._parse_term()
        bare = isinstance(value, exp.Column) and not value.table and not value.this.quoted
        unit = self._curr.text.upper() if self._curr else None
        if value is None or (bare and unit is not None and unit not in self.dialect.VALID_INTERVAL_UNITS):
            self._retreat(index)  # a column called interval
            return None
        return self._parse_interval_span(value, parse_function_unit=parse_function_unit)

    def _parse_units(self) -> exp.Interval | None:
        """``INTERVAL 1 DAY 2 HOURS`` → ``INTERVAL '1 DAY 2 HOURS'``, of the same value and type in Spark."""
        index = self._index
        parts: list[str] = []
        if self._match(TokenType.INTERVAL):
            while (part := self._parse_value_and_unit()) is not None:
                if part[0] in "+-" and parts:
                    self.raise_error("Write INTERVAL in front of each part that is added or subtracted")
                parts.append(part)
        if len(parts) < 2:
            self._retreat(index)
            return None
        return self.expression(exp.Interval(this=exp.Literal.string(" ".join(parts))))

    def _parse_value_and_unit(self) -> str | None:
        index = self._index
        sign = self._prev.text if self._match_set((TokenType.PLUS, TokenType.DASH)) else ""
        if self._match_set((TokenType.NUMBER, TokenType.STRING)):
            value = f"{sign}{self._prev.text.strip()}"
            if self._match_texts(_INTERVAL_UNITS) and re.fullmatch(r"[-+]?[\d.]+", value):
                return f"{value} {self._prev.text.upper()}"
        self._retreat(index)
        return None

    def _build_json_extract(
        self, this: exp.Expr | None, path_parts: list[exp.JSONPathPart]
    ) -> tuple[exp.Expr | None, list[exp.JSONPathPart]]:
        """``v:a.b[0]`` → ``variant_get(v, '$.a.b[0]', 'variant')``, which it is short for."""
        first, *steps = path_parts
        if this is None or not steps:
            return this, path_parts
        path = "$" + "".join(_path_step(step) for step in steps)
        arguments = [this, exp.Literal.string(path), exp.Literal.string("variant")]
        return self.expression(exp.Anonymous(this="variant_get", expressions=arguments)), [first]


def _path_step(step: exp.JSONPathPart) -> str:
    if isinstance(step.this, int):
        return f"[{step.this}]"
    if not isinstance(step.this, str) or "'" in step.this:
        raise ParseError(f"The path step {step.this} of a variant is not understood")
    return f".{step.this}" if re.fullmatch(r"[A-Za-z_]\w*", step.this) else f"['{step.this}']"


class SparkAsWritten(Spark):
    """The dialect to read view definitions and the steps of jobs in; to write them, plain ``spark`` does."""

    Parser = SparkParser


class SparkOfPlans(Spark):
    """The dialect to write queries in that are made of plans, word for word as plain ``spark`` does.

    That one looks through each SELECT, with all that is nested in it, for what Spark lacks: QUALIFY, DISTINCT ON, UNNEST
    and ANY. Plans have none of these.
    """

    class Generator(SparkGenerator):
        """Without that search."""

        TRANSFORMS: ClassVar = {
            kind: made for kind, made in SparkGenerator.TRANSFORMS.items() if kind is not exp.Select
        }


def spark_call(name: str, *arguments: exp.Expr) -> exp.Expression:
    """A call of one of Spark's functions, as reading its text would give it."""
    made = exp.func(name, *(argument.copy() for argument in arguments), dialect=SparkAsWritten)
    assert isinstance(made, exp.Expression)
    return made


def number(value: int) -> exp.Expression:
    """A BIGINT."""
    return exp.cast(exp.Literal.number(value), "bigint", dialect="spark")


def _with_separator(call: exp.GroupConcat) -> exp.GroupConcat:
    if call.args.get("separator") is None:
        call.set("separator", exp.null())
    return call


def _without_time_zone(tokens: list[Token]) -> list[Token]:
    """``TIMESTAMP WITHOUT TIME ZONE`` as the one word for it; sqlglot skips what follows the first."""
    made: list[Token] = []
    rest = 0
    for place, token in enumerate(tokens):
        if rest:
            rest -= 1
        elif [each.text.upper() for each in tokens[place : place + 4]] == ["TIMESTAMP", "WITHOUT", "TIME", "ZONE"]:
            rest = 3
            made.append(Token(TokenType.TIMESTAMPNTZ, "TIMESTAMP_NTZ", token.line, token.col, token.start, token.end))
        else:
            made.append(token)
    return made
