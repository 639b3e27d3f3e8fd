"""What commands print: tables and text for people, one JSON value for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

GOOD, BAD = "[green]✓[/]", "[red]✗[/]"
NO_VIEWS = "There are no views yet: write one under sql/ and run `ivm apply`."
WIDE = 500
STRATEGY_STYLES = {
    "noop": "dim",
    "incremental": "green",
    "affected": "cyan",
    "full": "yellow",
    "rewind": "magenta",
    "repair": "magenta",
}


def console(*, stderr: bool = False) -> Console:
    """A console on the process's present stdout or stderr."""
    out = Console(stderr=stderr, highlight=False)
    if not out.is_terminal:
        out.width = WIDE  # for a pipe or a file rich assumes 80 columns, and folds names
    return out


def print_error(code: str, message: str, as_json: bool, details: Mapping[str, object] | None = None) -> None:
    """One paragraph in red on stderr; with ``as_json`` an object ``{"error": {code, message, …}}`` on stdout."""
    if as_json:
        print_json({"error": {"code": code, "message": message, **(details or {})}})
        return
    # A paragraph is wrapped by the terminal, not cut here: it can then be searched and copied whole.
    paragraph = " ".join(message.split())
    console(stderr=True).print(Text(paragraph, style="red"), soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON value on stdout, readable and stable in its order of keys."""
    print(json.dumps(to_plain(value), indent=2, ensure_ascii=False))


def to_plain(value: Any) -> Any:
    """Dataclasses, enums, times and tuples as what JSON knows; anything else that it does not know as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        # NaN and the infinities are no JSON.
        return value if value == value and abs(value) != float("inf") else str(value)
    return str(value)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = (), title: str | None = None
) -> None:
    """A table of cells in rich markup; columns named in ``right`` hold numbers."""
    table = Table(
        title=title, title_justify="left", header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in columns:
        table.add_column(column, justify="right" if column in set(right) else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console().print(table)


def sql_text(statements: Mapping[str, str]) -> str:
    """Named statements as one readable SQL text."""
    return "\n\n".join(f"-- {name}\n{statement};" for name, statement in statements.items())


def print_sql(sql: str) -> None:
    """SQL in colours on a terminal; piped into a file it stays plain."""
    out = console()
    out.print(Syntax(sql, "sql", background_color="default") if out.is_terminal else Text(sql), soft_wrap=True)


def text(value: Any) -> str:
    """A value as a table cell, escaped so that it is never read as markup; nothing for None, times in whole seconds."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, Mapping):
        return escape(", ".join(_pair(key, item) for key, item in value.items()))
    return escape(str(value.value if isinstance(value, Enum) else value))


def _pair(key: Any, item: Any) -> str:
    """A name and its value; of the clock the instant that its version stands for."""
    from ivm_core.batch.clock import instant_of
    from ivm_core.plan.clock import CLOCK  # they bring sqlglot, which --help does without

    return f"time {instant_of(item):%Y-%m-%d %H:%M:%S}" if key == CLOCK else f"{key} {item}"


def seconds(value: float | None) -> str:
    """A duration with as many digits as one can use: 0.04 s, 1.2 s, 3 min 20 s."""
    if value is None:
        return ""
    if value < 60:
        return f"{value:.2f} s" if value < 1 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def strategy(value: Any) -> str:
    """A strategy in its colour."""
    name = text(value)
    return f"[{STRATEGY_STYLES[name]}]{name}[/]" if name in STRATEGY_STYLES else name


def verdict(ok: bool | None) -> str:
    """✓, ✗, or nothing where it is not known."""
    return "" if ok is None else GOOD if ok else BAD
