"""What a benchmark found, as values: entries for programs, tables and charts for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading, and whether it holds numbers."""

    name: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts; a row's cells are in the order of the columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class BarGroup:
    """A labelled group of bars, each a kind (``delta`` or ``full``) and seconds; ``ratio`` is shown at the edge."""

    label: str
    bars: tuple[tuple[str, float], ...]
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through points; ``kind`` picks its colour: ``delta``, ``full`` or ``other``."""

    name: str
    kind: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """A chart of lines; ``level`` is a horizontal mark, such as the ratio 1. ``logarithmic``: across; ``_up``: up."""

    lines: tuple[Line, ...]
    x_label: str
    y_label: str
    logarithmic: bool = False
    level: float | None = None
    logarithmic_up: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: bars, lines, a table, or several of them under one heading. ``other``: whose the full bars are."""

    title: str
    note: str
    bars: tuple[BarGroup, ...] = ()
    lines: Lines | None = None
    grid: Grid | None = None
    other: str = "plain Spark"


@dataclass(frozen=True, slots=True)
class BenchResult:
    """A finished benchmark. ``results`` are what programs read; ``tiles`` are the headline's numbers with their meaning.

    ``notes`` say how it was measured, and what to keep in mind. ``command``: what was run; ``peak_memory_mb``: the most that
    Python and Java held, in MiB.
    """

    bench: str
    title: str
    options: Mapping[str, Any]
    environment: Mapping[str, str]
    results: tuple[Mapping[str, Any], ...]
    summary: Mapping[str, Any]
    tiles: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = field(default=())
    command: str = ""
    peak_memory_mb: Mapping[str, int] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, str]:
        """The environment and the options, as texts to show."""
        shown = {key: _text(value) for key, value in {**self.environment, **self.options}.items()}
        memory = ", ".join(f"{name} {size:,} MiB" for name, size in self.peak_memory_mb.items())
        return {**shown, **({"peak_memory": memory} if memory else {})}

    @property
    def wrong(self) -> tuple[str, ...]:
        """The views whose rows were not those of their query, or that failed."""
        return tuple(sorted({str(entry["view"]) for entry in self.results if entry.get("equal") is False}))

    def document(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {
            "bench": self.bench,
            "options": dict(self.options),
            "environment": dict(self.environment),
            "ok": not self.wrong,
            "summary": dict(self.summary),
            "results": [dict(entry) for entry in self.results],
            "notes": list(self.notes),
            "command": self.command,
            "peak_memory_mb": dict(self.peak_memory_mb),
        }


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) or "all" if isinstance(value, tuple) else str(value)
