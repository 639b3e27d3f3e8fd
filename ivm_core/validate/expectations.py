"""A view's expectations: what its owner states of its rows, in Great Expectations' own JSON, read as untrusted text.

Only types are known that look at the rows of one table and hold no code: none with SQL, none of another table, no row
conditions, no parameters that are filled in at run time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ivm_core.errors import DefinitionError

SEVERITIES = ("critical", "warning", "info")
MOST = 200  # expectations of one view
MOST_VALUES = 10_000  # in one list
_COLUMN = ("column",)
_PAIR = ("column_A", "column_B")
_SEVERAL = ("column_list",)
_RANGE = ("min_value", "max_value", "strict_min", "strict_max")
_MOSTLY = ("mostly",)
_VALUES = ("value_set",)

# Type → the names that its columns go by, and the other arguments that it may have.
TYPES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "expect_column_values_to_not_be_null": (_COLUMN, _MOSTLY),
    "expect_column_values_to_be_null": (_COLUMN, _MOSTLY),
    "expect_column_values_to_be_unique": (_COLUMN, _MOSTLY),
    "expect_column_values_to_be_in_set": (_COLUMN, (*_VALUES, *_MOSTLY)),
    "expect_column_values_to_not_be_in_set": (_COLUMN, (*_VALUES, *_MOSTLY)),
    "expect_column_values_to_be_between": (_COLUMN, (*_RANGE, *_MOSTLY)),
    "expect_column_value_lengths_to_be_between": (_COLUMN, (*_RANGE, *_MOSTLY)),
    "expect_column_value_lengths_to_equal": (_COLUMN, ("value", *_MOSTLY)),
    "expect_column_values_to_match_regex": (_COLUMN, ("regex", *_MOSTLY)),
    "expect_column_values_to_not_match_regex": (_COLUMN, ("regex", *_MOSTLY)),
    "expect_column_distinct_values_to_be_in_set": (_COLUMN, _VALUES),
    "expect_column_distinct_values_to_contain_set": (_COLUMN, _VALUES),
    "expect_column_distinct_values_to_equal_set": (_COLUMN, _VALUES),
    "expect_column_unique_value_count_to_be_between": (_COLUMN, _RANGE),
    "expect_column_proportion_of_unique_values_to_be_between": (_COLUMN, _RANGE),
    "expect_column_proportion_of_non_null_values_to_be_between": (_COLUMN, _RANGE),
    "expect_column_min_to_be_between": (_COLUMN, _RANGE),
    "expect_column_max_to_be_between": (_COLUMN, _RANGE),
    "expect_column_sum_to_be_between": (_COLUMN, _RANGE),
    "expect_column_mean_to_be_between": (_COLUMN, _RANGE),
    "expect_column_median_to_be_between": (_COLUMN, _RANGE),
    "expect_column_stdev_to_be_between": (_COLUMN, _RANGE),
    "expect_column_to_exist": (_COLUMN, ()),
    "expect_column_pair_values_to_be_equal": (_PAIR, ("ignore_row_if", *_MOSTLY)),
    "expect_column_pair_values_a_to_be_greater_than_b": (_PAIR, ("or_equal", "ignore_row_if", *_MOSTLY)),
    "expect_compound_columns_to_be_unique": (_SEVERAL, ("ignore_row_if", *_MOSTLY)),
    "expect_multicolumn_sum_to_equal": (_SEVERAL, ("sum_total", "ignore_row_if", *_MOSTLY)),
    "expect_select_column_values_to_be_unique_within_record": (_SEVERAL, ("ignore_row_if", *_MOSTLY)),
    "expect_table_row_count_to_be_between": ((), _RANGE),
    "expect_table_row_count_to_equal": ((), ("value",)),
    "expect_table_column_count_to_equal": ((), ("value",)),
}


@dataclass(frozen=True, slots=True)
class Expectation:
    """One statement on a view's rows: a type of ``TYPES`` with its arguments. ``severity`` critical: it fails the run."""

    type: str
    kwargs: dict[str, Any] = field(default_factory=dict)
    severity: str = "critical"
    note: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        named = [self.kwargs[key] for key in TYPES[self.type][0]]
        return tuple(name for item in named for name in (item if isinstance(item, list) else [item]))


def read_expectations(text: str) -> tuple[Expectation, ...]:
    """A suite's JSON, or its list of expectations alone, checked but for the names of columns.

    Raises DefinitionError for what is no JSON, an unknown type or argument, and a value that is no plain one.

    >>> read_expectations('[{"type": "expect_column_to_exist", "kwargs": {"column": "id"}}]')[0].columns
    ('id',)
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(f"This is not JSON: {error}.", construct="expectations") from None
    return read_items(found.get("expectations") if isinstance(found, dict) else found)


def read_items(listed: Any) -> tuple[Expectation, ...]:
    """A list of objects in the JSON form. Raises DefinitionError as ``read_expectations`` does."""
    if not isinstance(listed, list) or len(listed) > MOST:
        _refuse(f"A suite has a list `expectations` of at most {MOST} objects")
    return tuple(_read(item, number) for number, item in enumerate(listed, 1))


def to_json(expectations: Collection[Expectation]) -> list[dict[str, Any]]:
    """The expectations as plain values, which ``read_expectations`` reads again from their JSON."""
    return [{"type": e.type, "kwargs": e.kwargs, "severity": e.severity, "notes": e.note} for e in expectations]


def _read(item: Any, number: int) -> Expectation:
    where = f"Expectation {number}"
    if not isinstance(item, dict):
        _refuse(f"{where} is not an object with `type` and `kwargs`")
    kind, kwargs = item.get("type"), item.get("kwargs", {})
    if not isinstance(kind, str) or kind not in TYPES:
        _refuse(f"{where}: the type {str(kind)[:80]!r} is none of {', '.join(sorted(TYPES))}")
    if not isinstance(kwargs, dict):
        _refuse(f"{where} ({kind}): `kwargs` is not an object")
    by_column, others = TYPES[kind]
    for key, value in kwargs.items():
        if key not in (*by_column, *others):
            _refuse(f"{where} ({kind}): unknown argument {key[:80]!r}; known are {', '.join((*by_column, *others))}")
        if not _is_plain(value):
            _refuse(f"{where} ({kind}): {key} is neither a text, number or truth value nor a list of such")
    for key in by_column:
        named = kwargs.get(key)
        names = named if key in _SEVERAL else [named]
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            _refuse(f"{where} ({kind}): {key} does not name {'columns' if key in _SEVERAL else 'a column'}")
    severity, note = item.get("severity") or "critical", item.get("notes") or ""
    if severity not in SEVERITIES:
        _refuse(f"{where} ({kind}): the severity {str(severity)[:80]!r} is none of {', '.join(SEVERITIES)}")
    return Expectation(kind, kwargs, severity, note if isinstance(note, str) else "")


def _is_plain(value: Any) -> bool:
    scalars = (str, int, float, bool, type(None))
    if isinstance(value, list):
        return len(value) <= MOST_VALUES and all(isinstance(item, scalars) for item in value)
    return isinstance(value, scalars)


def _refuse(message: str) -> NoReturn:
    raise DefinitionError(f"{message}.", construct="expectations")
