"""Write generated jobs to files, as ``ivm plan --out`` does: ``VIEW.json`` and ``VIEW.sql`` for each view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ivm_core.cli.output import sql_text
from ivm_core.errors import SettingsError, UnknownTableError

if TYPE_CHECKING:
    from ivm_core.maintain import Engine


def write_jobs(engine: Engine, project: Path, out: Path) -> tuple[list[str], list[str]]:
    """Explain every view file of the project into ``out``; (names written, files left out).

    Left out is a view over a table or a view that does not exist yet: its columns are not known before ``ivm apply``.
    """
    from ivm_core.maintain.project import naming_file

    written, left_out = [], []
    for file in sorted((project / "views").glob("*.sql")):
        try:
            with naming_file(file.name):
                explanation = engine.explain(file.read_text(encoding="utf-8-sig"))
        except UnknownTableError:
            left_out.append(file.name)
            continue
        # Percent-encoded, whatever names may come to hold.
        name = quote(explanation.view, safe=". ")
        try:
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{name}.json").write_text(explanation.job + "\n", encoding="utf-8")
            (out / f"{name}.sql").write_text(sql_text(explanation.sql) + "\n", encoding="utf-8")
        except OSError as error:
            raise SettingsError(f"{out} cannot be written: {error.strerror}.") from None
        written.append(explanation.view)
    return written, left_out
