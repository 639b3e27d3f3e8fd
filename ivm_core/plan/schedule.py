"""Schedules and intervals as users write them: checked here, run by the scheduler."""

from __future__ import annotations

from datetime import timedelta

PRESETS = ("@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@annually", "@midnight", "@quarterly")
UNITS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
DAYS_OF_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, MONTHS),
    ("day of week", 0, 7, DAYS),
)


def check_cron(text: str) -> str:
    """What is wrong with a five-field cron expression, empty if nothing is.

    >>> check_cron("*/15 0-6,12 * * mon"), check_cron("0 25 * * *")
    ('', "hour '25' is not between 0 and 23")
    """
    if text in PRESETS:
        return ""
    fields = text.split()
    if len(fields) != len(FIELDS):
        return f"{text!r} has {len(fields)} fields instead of 5 (minute, hour, day of month, month, day of week)"
    for field, (label, low, high, names) in zip(fields, FIELDS, strict=True):
        for item in field.split(","):
            problem = _check_item(item, label, low, high, names)
            if problem:
                return problem
    return _never(*fields[2:])


def parse_interval(text: str) -> timedelta | None:
    """``'24 hours'``, ``'7 days'``, ``'1 day 12 hours'`` as a positive timedelta; None if it is none."""
    words = text.lower().split()
    if not words or len(words) % 2:
        return None
    total = timedelta()
    for amount, unit in zip(words[::2], words[1::2], strict=True):
        step = UNITS.get(unit.removesuffix("s"))
        if step is None or not (amount.isascii() and amount.isdigit()) or len(amount) > 6:
            return None
        total += int(amount) * step
    return total if total > timedelta() else None


def _never(day: str, month: str, weekday: str) -> str:
    """Why there is no such day in any year, as the 31st of February: a scheduler that looks for it fails. Empty if there is."""
    if weekday != "*":
        return ""  # with days of both kinds cron takes either
    days, months = _values(day, *FIELDS[2][1:]), _values(month, *FIELDS[3][1:])
    if any(day <= DAYS_OF_MONTH[month - 1] for day in days for month in months):
        return ""
    return f"day of month {day!r} does not occur in month {month!r}"


def _values(field: str, low: int, high: int, names: tuple[str, ...]) -> set[int]:
    """The numbers that a checked field means; a range whose end comes first goes around."""
    found: set[int] = set()
    for item in field.split(","):
        span, _, step = item.partition("/")
        first, dash, last = span.partition("-")
        start = low if span == "*" else _number(first, low, names) or low
        end = _number(last, low, names) if dash else high if span == "*" or step else start
        assert end is not None  # it has been checked
        numbers = [*range(start, end + 1)] if start <= end else [*range(start, high + 1), *range(low, end + 1)]
        found.update(numbers[:: int(step or 1)])
    return found


def _check_item(item: str, label: str, low: int, high: int, names: tuple[str, ...]) -> str:
    span, slash, step = item.partition("/")
    if slash and not (step.isascii() and step.isdigit() and len(step) <= 4 and int(step) > 0):
        return f"{label} {item!r} has a step that is not a positive number"
    if span == "*":
        return ""
    first, dash, last = span.partition("-")
    for value in (first, last) if dash else (first,):
        number = _number(value, low, names)
        if number is None or not low <= number <= high:
            return f"{label} {value!r} is not between {low} and {high}"
    return ""


def _number(text: str, low: int, names: tuple[str, ...]) -> int | None:
    if text.lower() in names:
        return names.index(text.lower()) + low
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else None
