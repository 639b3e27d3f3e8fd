"""Reading the head of a CREATE statement token by token, and the query after it with positions in the whole text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from ivm_core.errors import DefinitionError
from ivm_core.plan.dialect import SparkAsWritten

_CONTINUED = re.compile(r"--[^\n]*\\\n")


def tokenize(sql: str) -> list[Token]:
    """Spark SQL tokens; as in Spark 4, ``'it''s'`` is one string holding a quote (sqlglot would make two strings)."""
    try:
        raw = Spark().tokenize(sql)
    except TokenError as error:
        raise DefinitionError(f"The statement cannot be read: {error}", construct="syntax") from error
    _check_comments(sql, raw)
    tokens: list[Token] = []
    for token in raw:
        last = tokens[-1] if tokens else None
        if (
            last is not None
            and token.token_type == last.token_type == TokenType.STRING
            and token.start == last.end + 1
            and sql[token.start] == sql[last.end]
        ):
            text = f"{last.text}{sql[token.start]}{token.text}"
            tokens[-1] = Token(
                TokenType.STRING, text, token.line, token.col, last.start, token.end, last.comments + token.comments
            )
        else:
            tokens.append(token)
    return tokens


def _check_comments(sql: str, tokens: list[Token]) -> None:
    """Raise DefinitionError for a comment that ends in a backslash: to Spark it goes on in the next line, to sqlglot not."""
    start = 0
    for end, following in ((token.start, token.end + 1) for token in tokens):
        if found := _CONTINUED.search(sql, start, end):
            line, column = sql.count("\n", 0, found.start()) + 1, found.start() - sql.rfind("\n", 0, found.start())
            message = "A comment that ends in a backslash goes on in the next line for Spark. Take the backslash away."
            raise DefinitionError(message, construct="comment", line=line, column=column)
        start = following


def parse_queries(tokens: list[Token], sql: str) -> list[exp.Expr]:
    """The statements in ``tokens`` (a part of ``sql``'s); raises DefinitionError with the position in ``sql``."""
    if not tokens:
        return []
    try:
        trees = SparkAsWritten().parser().parse(tokens, sql)
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        line, column = first.get("line"), first.get("col")
        near = str(first.get("highlight") or "").strip()
        problem = str(first.get("description", error)).rstrip(".")
        # sqlglot names its own classes where an operand is missing.
        problem = "it is incomplete" if problem.startswith("Required keyword") else problem
        message = f"The SQL cannot be parsed: {problem}"
        raise DefinitionError(
            f"{message}, near {near!r}" if near else message,
            construct="syntax",
            line=line,
            column=max(1, column - len(near) + 1) if column else None,
        ) from error
    except ValueError as error:  # sqlglot's, of the arguments of a call
        raise DefinitionError(f"The SQL cannot be parsed: {error}", construct="syntax") from error
    except (AssertionError, AttributeError, LookupError, TypeError) as error:  # where it takes something to be there
        raise DefinitionError("The SQL cannot be parsed: something is missing in it.", construct="syntax") from error
    found = [tree for tree in trees if tree is not None]
    _note_written_names(found, tokens)
    return found


def read_select(sql: str) -> exp.Query:
    """The one SELECT that a text is. Raises DefinitionError for anything else."""
    trees = parse_queries(tokenize(sql), sql)
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise DefinitionError("This is no query: write one SELECT statement over tables and views.")
    return trees[0]


def written_name(call: exp.Expr) -> str | None:
    """The name by which a function was called in the text, where it is known: sqlglot has one class for many names."""
    name = call.meta.get("written")
    return str(name) if name is not None else None


def _note_written_names(trees: list[exp.Expr], tokens: list[Token]) -> None:
    places = {token.start: place for place, token in enumerate(tokens)}
    for call in (found for tree in trees for found in tree.find_all(exp.Func)):
        place = places.get(call.meta.get("start", -1))
        if place is None and isinstance(call, exp.Substring | exp.Trim):
            # These are not placed in the text, but what comes first in them is.
            starts = [found.meta["start"] for found in call.walk() if "start" in found.meta]
            inner = places.get(min(starts, default=-1), 0)
            place = inner - 2 if inner >= 2 and tokens[inner - 1].token_type == TokenType.L_PAREN else None
        if place is not None and tokens[place + 1].token_type == TokenType.L_PAREN:
            call.meta["written"] = tokens[place].text


def position(node: exp.Expr | None) -> tuple[int | None, int | None]:
    """Line and column (from 1) of the first token known to belong to an expression."""
    if node is None:
        return None, None
    places = [
        (int(found.meta["start"]), int(found.meta["line"]), int(found.meta["col"]), int(found.meta["end"]))
        for found in node.walk()
        if "start" in found.meta
    ]
    if not places:
        return None, None
    start, line, column, end = min(places)
    return line, max(1, column - (end - start))


@dataclass
class Cursor:
    """A place in a list of tokens; every complaint names the line and column of the token there."""

    sql: str
    tokens: list[Token]
    index: int = 0

    @property
    def token(self) -> Token | None:
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    def word(self) -> str:
        """The current token in upper case, empty at the end; a quoted name or string is never a word."""
        token = self.token
        if token is None or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            return ""
        return token.text.upper()

    def advance(self) -> Token:
        token = self.token
        if token is None:
            self.fail("The statement ends too early")
        self.index += 1
        return token

    def accept(self, *words: str) -> bool:
        """Step over the words if all of them come next."""
        start = self.index
        for word in words:
            if self.word() != word:
                self.index = start
                return False
            self.index += 1
        return True

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                self.fail(f"Expected {word}, found {self.found()}")

    def string(self, what: str) -> str:
        token = self.token
        if token is None or token.token_type not in (TokenType.STRING, TokenType.RAW_STRING):
            self.fail(f"Expected {what} as a quoted string, found {self.found()}")
        self.index += 1
        return token.text

    def name(self, what: str) -> str:
        """An identifier, quoted or not."""
        token = self.token
        quoted = token is not None and token.token_type == TokenType.IDENTIFIER
        if token is None or token.token_type == TokenType.STRING or not (quoted or is_word(token.text)):
            self.fail(f"Expected {what}, found {self.found()}")
        self.index += 1
        return token.text

    def found(self) -> str:
        return repr(self.token.text) if self.token else "the end of the statement"

    def fail(self, message: str, construct: str = "syntax") -> NoReturn:
        line, column = self.place()
        raise DefinitionError(f"{message}.", construct=construct, line=line, column=column)

    def place(self) -> tuple[int, int]:
        """Line and column (from 1) where the current token starts."""
        start = self.token.start if self.token else len(self.sql)
        return self.sql.count("\n", 0, start) + 1, start - self.sql.rfind("\n", 0, start)


def is_word(text: str) -> bool:
    """Whether a token's text can be an unquoted identifier."""
    return bool(text) and all(character.isalnum() or character == "_" for character in text)
