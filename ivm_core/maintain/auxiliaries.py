"""The auxiliary views of a view, its MATERIALIZED CTEs: they move with it, and it sees the tables as they saw them.

A view of its own may show another state of a table than the views below it. A part of a view's query may not: what the view
stands at is one version of every table, in whichever part it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from ivm_core.batch.classify import range_class
from ivm_core.batch.model import CommitClass, Cut, TableVersion
from ivm_core.catalog.model import ViewRecord
from ivm_core.errors import BaseTableError, Busy, DefinitionError
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import newest_version, shown_table, standing
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.definition import AUXILIARY_OF, ViewDefinition, parse_definition

_MARK = re.compile(r"\bMATERIALIZED\b", re.IGNORECASE)


def auxiliaries_of(session: Session, view: ViewRecord) -> tuple[ViewRecord, ...]:
    """The auxiliary views of a view that are registered, each after those that it reads."""
    if len(_MARK.findall(view.sql)) == 1:
        return ()  # without parsing: the statement's own
    known = (session.catalog.find_view(part.name) for part in parse_definition(view.sql).auxiliaries)
    return tuple(record for record in known if record is not None and is_auxiliary(record, view.name))


def is_auxiliary(view: ViewRecord, owner: str | None = None) -> bool:
    """Whether the view keeps a part of another's query, or of this owner's."""
    found = owner_of(view)
    return found is not None and owner in (None, found)


def owner_of(view: ViewRecord) -> str | None:
    """The view whose query an auxiliary keeps a part of; None of any other view."""
    return dict(view.properties).get(AUXILIARY_OF)


def check_properties(definition: ViewDefinition, owner: str | None = None) -> None:
    """Raise DefinitionError for properties that are not a user's to set: of Delta, and whose part the view is.

    ``owner``: the view of whose query it keeps a part.
    """
    problem = ""
    if definition.auxiliary_of != owner:
        problem = f"{AUXILIARY_OF} is set by this package alone, for a CTE that is AS MATERIALIZED"
    elif of_delta := [key for key, _ in definition.properties if key.lower().startswith("delta.")]:
        problem = f"{of_delta[0]} would have no effect, since a view's table is made by this package"
    if problem:
        raise DefinitionError(f"{definition.name}: {problem}. Leave it out.", construct="TBLPROPERTIES")


def raised(session: Session, cut: Cut, views: Iterable[ViewRecord]) -> Cut:
    """The cut, moved on where an auxiliary among these stands past it, as after a run that ended before its reader's turn."""
    versions = {version.table: version for version in cut.versions}
    for auxiliary in filter(is_auxiliary, views):
        with suppress(BaseTableError):  # its own run will tell
            for version in _seen_by(session, (auxiliary,)):
                if session.catalog.find_view(version.table) is not None:
                    continue  # it is read where it will stand
                known = versions.setdefault(version.table, version)
                if known.table_id == version.table_id and known.version < version.version:
                    versions[version.table] = version
    return replace(cut, versions=tuple(versions.values()))


def as_auxiliaries_stand(session: Session, view: ViewRecord, cut: Cut) -> Cut:
    """The cut with the versions of tables at which the view's auxiliaries stand. Raises Busy where they differ."""
    seen: dict[str, TableVersion] = {}
    for version in _seen_by(session, auxiliaries_of(session, view)):
        known = seen.get(version.table) or _now(session, version)
        if not _same_rows(session, known, version):
            raise Busy(
                f"The auxiliary views of {view.name} stand at different versions of {version.table}: another run moves them "
                f"in this moment. Nothing was changed; run `ivm maintain {view.name}` again."
            )
        seen[version.table] = max(known, version, key=lambda item: item.version)
    versions = {version.table: version for version in cut.versions}
    versions |= {table: as_readable(session, version, cut.of(table)) for table, version in seen.items()}
    return replace(cut, versions=tuple(versions.values()))


def as_readable(session: Session, stood: TableVersion, later: TableVersion | None = None) -> TableVersion:
    """Of a base table the later version, the newest where none is given, if it has the rows of the one that was stood at.

    It stays readable for longer, and has the columns that came since. The version itself where there is no such one.
    """
    if stood.table == CLOCK or session.catalog.find_view(stood.table) is not None:
        return stood
    later = later or newest_version(session, stood.table)
    return later if later.version > stood.version and _same_rows(session, stood, later) else stood


def _seen_by(session: Session, auxiliaries: Iterable[ViewRecord]) -> Iterator[TableVersion]:
    """What auxiliary views stand at."""
    for auxiliary in auxiliaries:
        now = standing(session, auxiliary)
        yield from now.versions if now is not None else ()


def _now(session: Session, version: TableVersion) -> TableVersion:
    """Of an upstream view, where it stands: it is read so. A base table is read as the auxiliary did."""
    upstream = session.catalog.find_view(version.table)
    now = standing(session, upstream) if upstream is not None else None
    if upstream is None or now is None:
        return version
    return TableVersion(version.table, shown_table(session, upstream, now.table_id), now.state_version)


def _same_rows(session: Session, one: TableVersion, other: TableVersion) -> bool:
    """Whether a table has the same rows at both versions."""
    if one.table_id != other.table_id:
        return False
    start, end = sorted((one.version, other.version))
    return start == end or range_class(session.table_log(one.table).commits(start, end), start, end) is CommitClass.NOOP
