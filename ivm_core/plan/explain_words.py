"""The words of a line of plan text, with SQL's own idea of a word: names, strings and brackets stay whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlglot import tokenize

from ivm_core.plan.explain_expressions import DIALECT

Item = TypeVar("Item")

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


class Words:
    """A cursor over the words of a text. All methods raise ValueError when the text is not as they expect."""

    def __init__(self, text: str) -> None:
        tokens = tokenize(text, dialect=DIALECT)
        self._text = text
        self._ends = [(token.start, token.end + 1) for token in tokens]
        self._words = [text[start:end] for start, end in self._ends]
        self._contents = [token.text for token in tokens]
        self._next = 0

    def accept(self, word: str) -> bool:
        """Step over the word if it comes next."""
        found = self._next < len(self._words) and self._words[self._next] == word
        self._next += found
        return found

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise ValueError(f"expected {word!r}, found {self.rest()!r}")

    def name(self) -> str:
        """The next word, without its quotes if it has any."""
        if self._next >= len(self._words):
            raise ValueError("the line ends too early")
        self._next += 1
        return self._contents[self._next - 1]

    def table(self) -> str:
        """The next words joined by dots."""
        parts = [self.name()]
        while self.accept("."):
            parts.append(self.name())
        return ".".join(parts)

    def rest(self) -> str:
        """All that remains, as written."""
        remaining = self._ends[self._next :]
        self._next = len(self._words)
        return self._text[remaining[0][0] : remaining[-1][1]] if remaining else ""

    def end(self) -> None:
        """Nothing remains."""
        if self._next < len(self._words):
            raise ValueError(f"unexpected {self.rest()!r}")

    def bracket(self, *, types: bool = False) -> list[Words]:
        """The items between the bracket that comes next and its partner, split at commas."""
        if self._next >= len(self._words) or self._words[self._next] not in _OPENING:
            raise ValueError(f"expected a bracket, found {self.rest()!r}")
        self._next += 1
        return self.items(types=types, stop_at_bracket=True)

    def items(self, *, types: bool = False, stop_at_bracket: bool = False) -> list[Words]:
        """All that remains, split at commas outside brackets; with ``types``, ``<`` and ``>`` are brackets."""
        depth, begin = 0, self._next
        found: list[Words] = []
        while self._next < len(self._words):
            word = self._words[self._next]
            self._next += 1
            if depth == 0 and word in _CLOSING and stop_at_bracket:
                return [*found, *self._slice(begin, self._next - 1)]
            if depth == 0 and word == ",":
                found += self._slice(begin, self._next - 1)
                begin = self._next
            depth += (word in _OPENING) - (word in _CLOSING)
            if types:
                depth += _angles(word)
        if stop_at_bracket:
            raise ValueError("a bracket is not closed")
        return [*found, *self._slice(begin, self._next)]

    def labelled(self, label: str, read: Callable[[Words], Item]) -> tuple[Item, ...]:
        """The items of ``label=[…]``, each read to its end."""
        self.expect(label)
        self.expect("=")
        return self.read_each(self.bracket(), read)

    @staticmethod
    def read_each(items: list[Words], read: Callable[[Words], Item]) -> tuple[Item, ...]:
        results = []
        for item in items:
            results.append(read(item))
            item.end()
        return tuple(results)

    def _slice(self, begin: int, end: int) -> list[Words]:
        if begin == end:
            return []
        return [Words(self._text[self._ends[begin][0] : self._ends[end - 1][1]])]


def _angles(word: str) -> int:
    return word.count("<") - word.count(">") if set(word) <= {"<", ">"} else 0
