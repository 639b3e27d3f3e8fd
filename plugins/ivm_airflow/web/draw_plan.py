"""A plan's text as a picture: one operator a line, its inputs below it and joined to it by lines."""

from __future__ import annotations

from dataclasses import dataclass

INDENT = 2  # of the plan's text, a level
STEP = 22
LINE = 26
TOP = 6
LETTER = 7.0  # the width of a letter, roughly
DETAIL_LETTER = 7.4
DETAIL_LETTERS = 108
KINDS = {"Scan": "table", "Changes": "changes", "Values": "table", "Round": "table", "Join": "join"}
GROUPING = frozenset({"Aggregate", "Distinct", "Window", "SetOperation", "Limit", "Recursive"})


@dataclass(frozen=True, slots=True)
class Operator:
    """A line of the picture. ``kind`` picks the colour; ``title`` is the whole line, ``detail`` what fits."""

    x: float
    y: float
    name: str
    kind: str
    detail: str
    title: str
    width: float  # of the box around the name


@dataclass(frozen=True, slots=True)
class PlanPicture:
    """Operators and the lines from each to its inputs, as SVG paths."""

    operators: tuple[Operator, ...]
    links: tuple[str, ...]
    width: float
    height: float


def draw_plan(text: str) -> PlanPicture:
    """The picture of what ``explain`` wrote.

    >>> picture = draw_plan("Filter a > 1\\n  Scan default.t [a: int]")
    >>> [(o.name, o.detail, o.kind) for o in picture.operators]
    [('Filter', 'a > 1', 'row'), ('Scan', 'default.t [a: int]', 'table')]
    >>> len(picture.links)
    1
    """
    operators: list[Operator] = []
    links: list[str] = []
    above: list[Operator] = []  # the path from the root to the line before
    for number, line in enumerate(line for line in text.splitlines() if line.strip()):
        depth = (len(line) - len(line.lstrip())) // INDENT
        operator = _operator(line.strip(), depth, number)
        del above[depth:]
        if above:
            links.append(_link(above[-1], operator))
        above.append(operator)
        operators.append(operator)
    width = max((o.x + o.width + 10 + len(o.detail) * DETAIL_LETTER for o in operators), default=0.0)
    return PlanPicture(tuple(operators), tuple(links), width + 8, len(operators) * LINE + 2 * TOP)


def _operator(line: str, depth: int, number: int) -> Operator:
    name, _, detail = line.partition(" ")
    kind = KINDS.get(name, "group" if name in GROUPING else "row")
    short = detail if len(detail) <= DETAIL_LETTERS else detail[: DETAIL_LETTERS - 1] + "…"
    return Operator(depth * STEP + 4, number * LINE + TOP, name, kind, short, line, len(name) * LETTER + 16)


def _link(parent: Operator, child: Operator) -> str:
    x, top, middle = parent.x + 9, parent.y + LINE - 5, child.y + LINE / 2 - 2
    return f"M{x:g} {top:g} V{middle - 5:g} Q{x:g} {middle:g} {x + 5:g} {middle:g} H{child.x:g}"
