"""Words of SQL that are columns where no clause can begin with them: ``SELECT values, any, for, minus FROM t``.

Spark reserves none of them; sqlglot takes them for what they begin elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

_WORDS = frozenset(["any", "for", "minus", "values"])
_OPERATORS = frozenset(
    [
        TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.NULLSAFE_EQ,
        TokenType.STAR, TokenType.SLASH, TokenType.DIV, TokenType.MOD, TokenType.DPIPE, TokenType.AMP, TokenType.PIPE,
        TokenType.CARET, TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.BETWEEN, TokenType.LIKE, TokenType.ILIKE,
        TokenType.RLIKE, TokenType.COMMA, TokenType.DOT, TokenType.L_BRACKET, TokenType.ALIAS, TokenType.WHEN,
        TokenType.THEN, TokenType.ELSE, TokenType.PLUS, TokenType.DASH,
    ]
)  # fmt: skip
_BEFORE = _OPERATORS | frozenset(
    [
        TokenType.SELECT, TokenType.DISTINCT, TokenType.WHERE, TokenType.ON, TokenType.HAVING, TokenType.QUALIFY,
        TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.PARTITION_BY, TokenType.CASE, TokenType.L_PAREN,
    ]
)  # fmt: skip
_AFTER = _OPERATORS | frozenset(
    [
        TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING,
        TokenType.QUALIFY, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET, TokenType.UNION, TokenType.EXCEPT,
        TokenType.INTERSECT, TokenType.ASC, TokenType.DESC, TokenType.IS, TokenType.IN, TokenType.END, TokenType.DCOLON,
        TokenType.SEMICOLON, TokenType.PIPE_GT, TokenType.JOIN, TokenType.LEFT, TokenType.RIGHT, TokenType.INNER,
        TokenType.CROSS, TokenType.FULL,
    ]
)  # fmt: skip


def with_column_names(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with names in place of such words between what stands before and after an operand.

    >>> from sqlglot import tokenize
    >>> [token.token_type.name for token in with_column_names(tokenize("SELECT for FROM (VALUES (1))", dialect="spark"))]
    ['SELECT', 'IDENTIFIER', 'FROM', 'L_PAREN', 'VALUES', 'L_PAREN', 'NUMBER', 'R_PAREN', 'R_PAREN']
    """
    around = zip((None, *tokens[:-1]), tokens, (*tokens[1:], None), strict=True)
    return [
        as_name(token, quoted=True) if _is_column(before, token, after) else token for before, token, after in around
    ]


def as_name(token: Token, *, quoted: bool = False) -> Token:
    """The same word as a name; ``quoted``: in no way another thing."""
    kind = TokenType.IDENTIFIER if quoted else TokenType.VAR
    return Token(kind, token.text, token.line, token.col, token.start, token.end, token.comments)


def _is_column(before: Token | None, token: Token, after: Token | None) -> bool:
    if token.text.lower() not in _WORDS or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return False
    return before is not None and before.token_type in _BEFORE and (after is None or after.token_type in _AFTER)
