"""Reads fixture files of rewriting cases: title lines, an input, a ruler, the expected output.

::

    # Two filters become one.
    Filter a > 1
      Filter b > 2
        Scan default.t [a: int, b: int]
    ----
    Filter b > 2 AND a > 1
      Scan default.t [a: int, b: int]
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

RULER = "----"


@dataclass(frozen=True, slots=True)
class Spec:
    """One case; ``title`` is the text of its ``#`` lines; no blank lines around ``input`` and ``expected``."""

    title: str
    input: str
    expected: str

    def __str__(self) -> str:
        return self.title


def read_specs(path: Path | str) -> list[Spec]:
    """All cases of a file, in order. Raises ValueError for a case without a title or without exactly one ruler."""
    blocks: list[tuple[list[str], list[str]]] = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            if not blocks or blocks[-1][1]:
                blocks.append(([], []))
            blocks[-1][0].append(line.lstrip("#").strip())
        elif blocks:
            if line.strip() or blocks[-1][1]:
                blocks[-1][1].append(line)
        elif line.strip():
            raise ValueError(f"{path}: the first case has no title: {line}")
    return [_read_spec(path, " ".join(title), lines) for title, lines in blocks]


def _read_spec(path: Path | str, title: str, lines: list[str]) -> Spec:
    if lines.count(RULER) != 1:
        raise ValueError(f"{path}: case {title!r} needs exactly one line {RULER}")
    middle = lines.index(RULER)
    return Spec(title, "\n".join(lines[:middle]).strip("\n"), "\n".join(lines[middle + 1 :]).strip("\n"))
