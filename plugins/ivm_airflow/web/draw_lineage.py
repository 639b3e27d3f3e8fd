"""Which tables and views a view rests on and which views rest on it, as a graph in columns from left to right."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ivm_airflow.web.lag import CLOCK

BOX_WIDTH = 250
BOX_HEIGHT = 30
GAP = 14
COLUMN = BOX_WIDTH + 70
LETTERS = 33
MOST = 60  # boxes; a larger graph shows direct neighbours only


@dataclass(frozen=True, slots=True)
class Box:
    """A table or view; ``kind``: ``table``, ``view`` or ``this``. ``link``: whether the visitor may open it."""

    name: str
    label: str
    kind: str
    link: bool
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class LineagePicture:
    """Boxes, and curves from what is read to who reads it, as SVG paths. ``cut``: only direct neighbours."""

    boxes: tuple[Box, ...]
    curves: tuple[str, ...]
    width: float
    height: float
    cut: bool
    box_width: int = BOX_WIDTH
    box_height: int = BOX_HEIGHT


def draw_lineage(view: str, reads: Mapping[str, Collection[str]], open_to: Collection[str]) -> LineagePicture:
    """The graph around ``view``; ``reads``: what each view reads; ``open_to``: the views that the visitor may see.

    A view that reads this one and that the visitor may not see is left out; what this one reads is in its definition, but
    not what hidden views among that read in turn.
    """
    inputs = {name: sorted(set(tables) - {CLOCK}) for name, tables in reads.items()}
    below = _reach(view, {name: tables for name, tables in inputs.items() if name == view or name in open_to})
    readers: dict[str, list[str]] = {}
    for name, tables in inputs.items():
        for table in tables:
            if name in open_to:
                readers.setdefault(table, []).append(name)
    above = _reach(view, readers)
    cut = len(below) + len(above) > MOST
    if cut:
        below, above = {*inputs.get(view, ())}, {*readers.get(view, ())}
    shown = {view, *below, *above}
    edges = [
        (table, name)
        for name in sorted(shown)
        for table in inputs.get(name, ())
        if table in shown and (name == view or name in open_to)
    ]
    return _place(view, shown, edges, frozenset(inputs), open_to, cut)


def _reach(start: str, neighbours: Mapping[str, Collection[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(neighbours.get(start, ()))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += neighbours.get(name, ())
    return found - {start}


def _place(
    view: str,
    shown: set[str],
    edges: list[tuple[str, str]],
    views: frozenset[str],
    open_to: Collection[str],
    cut: bool,
) -> LineagePicture:
    columns: dict[int, list[str]] = {}
    for name, level in sorted(_levels(shown, edges).items()):
        columns.setdefault(level, []).append(name)
    place: dict[str, float] = {}
    for level in sorted(columns):
        # Under each other in the order of what they read: fewer curves cross.
        def middle(name: str) -> tuple[float, str]:
            before = [place[table] for table, reader in edges if reader == name and table in place]
            return (sum(before) / len(before) if before else 0.0, name)

        for number, name in enumerate(sorted(columns[level], key=middle)):
            place[name] = number - (len(columns[level]) - 1) / 2
    tallest = max(len(names) for names in columns.values())
    height = tallest * (BOX_HEIGHT + GAP) + GAP
    boxes = {
        name: Box(
            name,
            name if len(name) <= LETTERS else name[: LETTERS - 1] + "…",
            "this" if name == view else "view" if name in views else "table",
            name in open_to and name != view,
            level * COLUMN + 2,
            height / 2 + place[name] * (BOX_HEIGHT + GAP) - BOX_HEIGHT / 2,
        )
        for level, names in columns.items()
        for name in names
    }
    curves = tuple(_curve(boxes[table], boxes[name]) for table, name in edges)
    return LineagePicture(tuple(boxes.values()), curves, max(columns) * COLUMN + BOX_WIDTH + 4, height, cut)


def _levels(shown: set[str], edges: list[tuple[str, str]]) -> dict[str, int]:
    """Every name right of all that it reads. Views do not read each other in a circle: the catalogue refuses it."""
    level = dict.fromkeys(shown, 0)
    for _ in shown:
        moved = False
        for table, name in edges:
            if level[name] <= level[table]:
                level[name], moved = level[table] + 1, True
        if not moved:
            break
    return level


def _curve(start: Box, end: Box) -> str:
    x, y = start.x + BOX_WIDTH, start.y + BOX_HEIGHT / 2
    to_x, to_y = end.x, end.y + BOX_HEIGHT / 2
    bend = max((to_x - x) / 2, 20)
    return f"M{x:g} {y:g} C{x + bend:g} {y:g} {to_x - bend:g} {to_y:g} {to_x:g} {to_y:g}"
