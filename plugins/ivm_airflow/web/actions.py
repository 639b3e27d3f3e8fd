"""The buttons of a view's page: each is a set of run parameters, checked as the tasks check them."""

from __future__ import annotations

from typing import Any

from ivm_airflow.request import REASON_LENGTH, parse_request

# By the button's value: its text, what it does in words, and the parameters of its run.
ACTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "refresh": ("Refresh", "bring it up to date, by its own policy", {"mode": "auto"}),
    "validate": (
        "Validate",
        "bring it up to date, compare it with its query, time a full refresh",
        {"measure_full": True},
    ),
    "full": ("Refresh in full", "compute it anew, whatever its policy says", {"mode": "full"}),
}


def run_conf(action: str, view: str, reason: str, registered: frozenset[str]) -> dict[str, Any]:
    """The parameters of the run that a button asks for. Raises KeyError for another button, Permanent for the rest.

    >>> run_conf("full", "gold.a", "", frozenset({"gold.a"}))
    {'views': ['gold.a'], 'mode': 'full'}
    """
    _, _, asked = ACTIONS[action]
    conf: dict[str, Any] = {"views": [view], **asked}
    if text := reason.strip()[:REASON_LENGTH]:
        conf["reason"] = text
    parse_request(conf, registered)
    return conf
