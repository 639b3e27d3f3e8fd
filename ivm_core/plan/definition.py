"""The CREATE INCREMENTAL MATERIALIZED VIEW statement: name, schedule, settings and query, parsed and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.definition_table import TableDefinition, parse_table
from ivm_core.plan.materialized import divide
from ivm_core.plan.names import parse_name, parse_properties
from ivm_core.plan.rewrite import expect_expression
from ivm_core.plan.schedule import check_cron, parse_interval
from ivm_core.plan.statement import Cursor, parse_queries, position, tokenize
from ivm_core.plan.user_functions import mark_aggregates, parse_functions

__all__ = ["OnDrift", "Policy", "TableDefinition", "ViewDefinition", "parse_definition", "parse_table"]


class Policy(StrEnum):
    """What the user allows (``ivm.refresh_policy``)."""

    AUTO = "auto"  # whatever is predicted to be fastest
    INCREMENTAL = "incremental"  # full only when it must, with a reason
    INCREMENTAL_STRICT = "incremental_strict"  # fail rather than full
    FULL = "full"


class OnDrift(StrEnum):
    """What a failed validation does (``ivm.on_drift``)."""

    FAIL = "fail"
    REPAIR = "repair"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """A parsed view definition. ``name`` is ``schema.view`` in lower case; ``sql`` the whole statement as written.

    ``query`` reads the ``auxiliaries``, views of the CTEs that are MATERIALIZED, in the order written, as tables; ``whole`` is
    the query without them. ``text`` is the query as written, where Spark reads it: without [NOT] MATERIALIZED.
    """

    name: str
    query: exp.Expression
    whole: exp.Expression
    sql: str
    comment: str = ""
    schedule: str | None = None  # cron expression
    group: str = "default"  # the maintenance group: GROUP name, or derived from the schedule
    policy: Policy = Policy.AUTO
    validate_every: timedelta | None = None
    on_drift: OnDrift = OnDrift.FAIL
    on_update: bool = False  # TRIGGER ON UPDATE: also run when a table that the view reads has changed
    watch_every: timedelta | None = None  # poll the tables' logs for that, beside what writers tell
    target_lag: timedelta | None = None  # how stale the view may be before somebody is told
    properties: tuple[tuple[str, str], ...] = ()
    if_not_exists: bool = False
    file: str = ""  # the name of the file it was read from
    auxiliaries: tuple[ViewDefinition, ...] = ()
    text: str = ""

    @property
    def auxiliary_of(self) -> str | None:
        """The view of whose query this one keeps a part."""
        return dict(self.properties).get(AUXILIARY_OF)


INTERVALS = ("ivm.validate_every", "ivm.watch_every", "ivm.target_lag")
SAMPLE = "ivm.validate_sample"
AGGREGATES = "ivm.aggregate_functions"
AUXILIARY_OF = "ivm.auxiliary_of"
KNOWN_PROPERTIES = ("ivm.refresh_policy", "ivm.on_drift", SAMPLE, AGGREGATES, *INTERVALS)


def parse_definition(sql: str) -> ViewDefinition:
    """Read ``CREATE [INCREMENTAL] MATERIALIZED VIEW name [clauses in any order] AS query``.

    Clauses: COMMENT '…', SCHEDULE CRON '…', TRIGGER ON UPDATE, GROUP name, TBLPROPERTIES ('…' = '…'). Raises
    DefinitionError or InvalidNameError with the position in ``sql``.
    """
    cursor = Cursor(sql, tokenize(sql))
    cursor.expect("CREATE")
    cursor.accept("INCREMENTAL")
    cursor.expect("MATERIALIZED", "VIEW")
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = parse_name(cursor, "view")
    clauses: dict[str, str] = {}
    properties: dict[str, str] = {}
    while not cursor.accept("AS"):
        _clause(cursor, clauses, properties)
    schedule, on_update = clauses.get("SCHEDULE"), "TRIGGER" in clauses
    _check_properties(cursor, properties, on_update)
    intervals = {key: parse_interval(properties[key]) for key in INTERVALS if key in properties}
    start = cursor.token.start if cursor.token else len(sql)
    query = _query(cursor)
    mark_aggregates(query, parse_functions(properties.get(AGGREGATES, "")) or ())
    plain = all(cte.args.get("materialized") is None for cte in query.find_all(exp.CTE))
    divided = divide(query, name)
    found = ViewDefinition(
        name=name,
        query=divided.query,
        whole=divided.whole,
        sql=sql,
        comment=clauses.get("COMMENT", ""),
        schedule=schedule,
        group=clauses.get("GROUP", _group_of(schedule, on_update)),
        policy=Policy(properties.get("ivm.refresh_policy", Policy.AUTO)),
        validate_every=intervals.get("ivm.validate_every"),
        on_drift=OnDrift(properties.get("ivm.on_drift", OnDrift.FAIL)),
        on_update=on_update,
        watch_every=intervals.get("ivm.watch_every"),
        target_lag=intervals.get("ivm.target_lag"),
        properties=tuple(properties.items()),
        if_not_exists=if_not_exists,
        text=sql[start:] if plain else "",
    )
    return replace(found, auxiliaries=tuple(_auxiliary(found, *part) for part in divided.parts))


def _auxiliary(view: ViewDefinition, name: str, query: exp.Expression) -> ViewDefinition:
    """The view of a MATERIALIZED CTE, with the settings of the view that it belongs to."""
    text = exp.Literal.string
    clauses = [f"COMMENT {text(f'Kept for {view.name}').sql('spark')}", f"GROUP `{view.group}`"]
    clauses += [f"SCHEDULE CRON {text(view.schedule).sql('spark')}"] if view.schedule else []
    clauses += ["TRIGGER ON UPDATE"] if view.on_update else []
    properties = {**dict(view.properties), AUXILIARY_OF: view.name}
    listed = ", ".join(f"{text(key).sql('spark')} = {text(value).sql('spark')}" for key, value in properties.items())
    written = ".".join(exp.to_identifier(part, quoted=True).sql("spark") for part in name.split(".", 1))
    head = "\n".join((f"CREATE INCREMENTAL MATERIALIZED VIEW {written}", *clauses, f"TBLPROPERTIES ({listed})", "AS"))
    return parse_definition(f"{head}\n{query.sql(dialect='spark', pretty=True, comments=False)}\n")


def _clause(cursor: Cursor, clauses: dict[str, str], properties: dict[str, str]) -> None:
    word = cursor.word()
    if word in clauses or (word == "TBLPROPERTIES" and properties):
        cursor.fail(f"The clause {word} is given twice", word)
    if cursor.accept("COMMENT"):
        clauses[word] = cursor.string("the comment")
    elif cursor.accept("SCHEDULE"):
        cursor.expect("CRON")
        problem = check_cron(cursor.string("a cron expression"))
        if problem:
            cursor.index -= 1
            cursor.fail(f"The schedule is not a cron expression: {problem}", "SCHEDULE")
        clauses[word] = cursor.tokens[cursor.index - 1].text
    elif cursor.accept("TRIGGER"):
        cursor.expect("ON", "UPDATE")
        clauses[word] = "ON UPDATE"
    elif cursor.accept("GROUP"):
        group = cursor.name("the group's name")
        if not all(character.isalnum() or character in "_-" for character in group):
            cursor.index -= 1
            cursor.fail(f"The group {group!r} may hold only letters, digits, '_' and '-'", "GROUP")
        clauses[word] = group.lower()
    elif cursor.accept("TBLPROPERTIES"):
        properties.update(parse_properties(cursor))
    elif cursor.token is None:
        cursor.fail("The statement has no AS followed by a query")
    else:
        cursor.fail(
            f"Unknown clause {cursor.found()}; known are COMMENT, SCHEDULE CRON, TRIGGER ON UPDATE, GROUP, "
            "TBLPROPERTIES, then AS",
            "syntax",
        )


def _check_properties(cursor: Cursor, properties: dict[str, str], on_update: bool) -> None:
    for key, value in properties.items():
        if not key.startswith("ivm."):
            continue
        if key not in (*KNOWN_PROPERTIES, AUXILIARY_OF):
            _refuse(cursor, key, f"Unknown property {key!r}; known are {', '.join(KNOWN_PROPERTIES)}.")
        if key == "ivm.refresh_policy" and value not in tuple(Policy):
            _refuse(cursor, key, f"{key} = {value!r} is not one of {', '.join(Policy)}.")
        if key == "ivm.on_drift" and value not in tuple(OnDrift):
            _refuse(cursor, key, f"{key} = {value!r} is not one of {', '.join(OnDrift)}.")
        if key == "ivm.watch_every" and not on_update:
            _refuse(cursor, key, f"{key} says how often changes are looked for: it needs the clause TRIGGER ON UPDATE.")
        if key == SAMPLE and parse_share(value) is None:
            _refuse(cursor, key, f"{key} = {value!r} is not a share such as '1 %', more than 0 and at most 100.")
        if key == AGGREGATES and parse_functions(value) is None:
            _refuse(cursor, key, f"{key} = {value!r} is not a list of names, such as 'my_avg, my_mode'.")
        if key in INTERVALS and parse_interval(value) is None:
            _refuse(cursor, key, f"{key} = {value!r} is not an interval such as '24 hours', '7 days' or '30 minutes'.")


def parse_share(text: str) -> float | None:
    """``'1 %'`` → 0.01; None for what is no share above 0 and up to 100 %.

    >>> parse_share("2.5%")
    0.025
    """
    digits = text.strip().removesuffix("%").strip()
    if not text.strip().endswith("%") or not digits.replace(".", "", 1).isdecimal() or not digits.isascii():
        return None
    share = float(digits) / 100
    return share if 0 < share <= 1 else None


def _refuse(cursor: Cursor, key: str, message: str) -> None:
    cursor.index = next((i for i, token in enumerate(cursor.tokens) if token.text == key), cursor.index)
    line, column = cursor.place()
    raise DefinitionError(message, construct="TBLPROPERTIES", line=line, column=column)


def _query(cursor: Cursor) -> exp.Expression:
    if cursor.token is None:
        cursor.fail("AS is not followed by a query")
    start = cursor.place()
    trees = parse_queries(cursor.tokens[cursor.index :], cursor.sql)
    if len(trees) != 1:
        line, column = position(trees[1]) if len(trees) > 1 else start
        raise DefinitionError(
            "A definition holds exactly one statement.", construct="statement", line=line, column=column
        )
    (query,) = trees
    if not isinstance(query, exp.Query | exp.Values):
        found = cursor.word() or cursor.found()
        raise DefinitionError(
            f"A view is defined by a SELECT query, not by {found}.",
            construct=found,
            line=start[0],
            column=start[1],
        )
    return expect_expression(query)


def _group_of(schedule: str | None, on_update: bool) -> str:
    """Views that run at the same times and for the same reasons are one group."""
    if schedule is None:
        return "on_update" if on_update else "default"
    return f"{_slug(schedule)}_or_on_update" if on_update else _slug(schedule)


def _slug(schedule: str) -> str:
    """``0 */2 * * *`` → ``cron_0_every2_any_any_any``: readable, and different for different schedules."""
    words = {"*": "any", "/": "every", ",": "and", "-": "to", "@": "", " ": "_"}
    text = " ".join(schedule.lower().split()).replace("*/", "/")
    return "cron_" + "".join(words.get(character, character) for character in text)
