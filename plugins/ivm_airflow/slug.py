"""Names that come from outside, made safe for file names and identifiers."""

from __future__ import annotations

from hashlib import sha256

SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
READABLE_LENGTH = 80


def slug(name: str) -> str:
    """A file name for any text: readable where it can be, distinct for distinct texts by a hash.

    >>> slug("../../etc/passwd")
    'etc-passwd-3754d6cb'
    >>> slug("manual__2026-11-21T10:00:00+00:00") != slug("manual__2026-11-21T10-00-00+00:00")
    True
    """
    readable = "".join(letter if letter in SAFE else "-" for letter in name.lower())
    readable = "-".join(part for part in readable.split("-") if part)[:READABLE_LENGTH]
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable}-{digest}" if readable else digest


def report_name(dag: str, run_id: str) -> str:
    """The name of a run's report, without an ending; runs of two DAGs that were cut out of time alike share their id.

    >>> report_name("ivm_daily", "scheduled__1") != report_name("ivm_hourly", "scheduled__1")
    True
    """
    return slug(f"{dag}/{run_id}")


def dag_id(group: str) -> str:
    """The DAG of a maintenance group: ``ivm_<group>``, through ``slug`` where the name is not an identifier already."""
    plain = bool(group) and len(group) <= READABLE_LENGTH and set(group) <= SAFE
    return f"ivm_{group if plain else slug(group)}"
