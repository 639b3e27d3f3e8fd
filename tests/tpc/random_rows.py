"""Random rows in the likeness of a benchmark's own: few keys, so that joins meet, and the values that a query asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

from tests.tpc.benchmark import Benchmark, Row
from tests.tpc.hints import NO_HINT, Hint

# How a column's name ends → the table whose key it holds, and that key.
_KEYS = {
    "date_sk": ("date_dim", "d_date_sk"),
    "time_sk": ("time_dim", "t_time_sk"),
    "item_sk": ("item", "i_item_sk"),
    "customer_sk": ("customer", "c_customer_sk"),
    "cdemo_sk": ("customer_demographics", "cd_demo_sk"),
    "hdemo_sk": ("household_demographics", "hd_demo_sk"),
    "addr_sk": ("customer_address", "ca_address_sk"),
    "store_sk": ("store", "s_store_sk"),
    "promo_sk": ("promotion", "p_promo_sk"),
    "reason_sk": ("reason", "r_reason_sk"),
    "ship_mode_sk": ("ship_mode", "sm_ship_mode_sk"),
    "warehouse_sk": ("warehouse", "w_warehouse_sk"),
    "web_page_sk": ("web_page", "wp_web_page_sk"),
    "web_site_sk": ("web_site", "web_site_sk"),
    "call_center_sk": ("call_center", "cc_call_center_sk"),
    "catalog_page_sk": ("catalog_page", "cp_catalog_page_sk"),
    "income_band_sk": ("income_band", "ib_income_band_sk"),
    "regionkey": ("region", "r_regionkey"),
    "nationkey": ("nation", "n_nationkey"),
    "custkey": ("customer", "c_custkey"),
    "suppkey": ("supplier", "s_suppkey"),
    "partkey": ("part", "p_partkey"),
    "orderkey": ("orders", "o_orderkey"),
    "ticket_number": ("", ""),  # of sales and returns: no table of its own
    "order_number": ("", ""),
}
CALENDAR = "date_dim"
KEYED_ROWS, DATES, OTHER_ROWS = 8, 30, 240


@dataclass
class RandomRows:
    """Rows for one query: ``asked`` holds, by column, the values that its filters look for.

    The rows of the calendar stay as they are, each day once: queries count on one number for a month or a week.
    ``first_key`` is added to all other keys, so that several queries' rows can lie in one table and not meet.
    """

    benchmark: Benchmark
    random: Random
    asked: Mapping[str, tuple[object, ...]]
    hint: Hint = NO_HINT
    first_key: int = 0
    _keys: dict[str, list[object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        types = self.benchmark.types
        self._key_of = {table: key for table, key in _KEYS.values() if key in types.get(table, ())}
        self._days = self._days_in_order() if CALENDAR in types else []

    def first(self, tables: Iterable[str]) -> dict[str, list[Row]]:
        """The rows of all tables to begin with."""
        for table, key in self._key_of.items():
            place = list(self.benchmark.types[table]).index(key)
            if table == CALENDAR:
                self._keys[table] = [row[place] for row in self._days[: self._count(table)]]
                continue
            keys = [row[place] + self.first_key for row in self.benchmark.rows[table][: self._count(table)]]
            self._keys[table] = [*keys, *(max(keys) + more for more in range(1, 1 + self._count(table) - len(keys)))]
        dates = self._count(CALENDAR)
        self._first_days, self._days = self._days[:dates], self._days[dates:]
        return {table: self._first_rows(table) for table in tables}

    def inserted(self, table: str, rows: list[Row]) -> list[Row]:
        """New rows, a tenth more, one of them twice where the table has no key."""
        new = [self._row(table, self._new_key(table)) for _ in range(max(2, len(rows) // 10))]
        return rows + new + ([] if table in self._key_of else new[:1])

    def deleted(self, table: str, rows: list[Row]) -> list[Row]:
        """A seventh of the rows gone, the last among them; not the first, which some queries look for by its key."""
        return [row for place, row in enumerate(rows[:-1]) if not place or self.random.randrange(7 * self.hint.calm)]

    def mixed(self, table: str, rows: list[Row]) -> list[Row]:
        """Rows inserted, deleted, and changed in one or two columns, keys among them; the first is left alone."""
        changed = rows[:1]
        for row in rows[1:]:
            chance = self.random.randrange(10 * self.hint.calm)
            if chance == 0:
                continue
            if chance <= 2:
                fresh = self._row(table, row[0])
                places = range(len(row)) if table == CALENDAR else self.random.choices(range(len(row)), k=2)
                row = tuple(fresh[place] if place in places else cell for place, cell in enumerate(row))
            changed.append(row)
        return self.inserted(table, changed)

    def _count(self, table: str) -> int:
        other = DATES if table == CALENDAR else KEYED_ROWS if table in self._key_of else OTHER_ROWS
        return self.hint.rows.get(table, other)

    def _first_rows(self, table: str) -> list[Row]:
        if table == CALENDAR:
            return self._first_days
        return [self._row(table, key) for key in self._keys.get(table) or [None] * self._count(table)]

    def _days_in_order(self) -> list[Row]:
        """Days that the query asks for and the days about them come first, then any."""
        days = list(self.benchmark.rows[CALENDAR])
        names = list(self.benchmark.types[CALENDAR])
        number = {day: position for position, day in enumerate(days)}
        self.random.shuffle(days)
        best = sorted(days, key=lambda day: -_agreeing(day, names, self.asked))[: DATES // 2]
        near = [day for day in days if any(abs(number[day] - number[other]) <= 3 for other in best[: DATES // 6])]
        hinted = {name: values for name, values in self.hint.values.items() if name in names}
        wanted = [day for day in days if hinted and _agreeing(day, names, hinted) == len(hinted)]
        return list(dict.fromkeys([*wanted, *best, *near[: DATES // 4], *days]))

    def _new_key(self, table: str) -> object:
        if table not in self._key_of or table == CALENDAR:
            return None
        keys = self._keys[table]
        keys.append(max(key for key in keys if isinstance(key, int)) + 1)
        return keys[-1]

    def _row(self, table: str, key: object) -> Row:
        """A row of the generator's with other keys and, in three of four cells that the query asks for, what it asks."""
        if table == CALENDAR:
            return self._days.pop(0)
        like = self.random.choice(self.benchmark.rows[table])
        names = self.benchmark.types[table]
        return tuple(self._cell(table, name, cell, key) for name, cell in zip(names, like, strict=True))

    def _cell(self, table: str, name: str, cell: object, key: object) -> object:
        if name == self._key_of.get(table):
            return key
        if self.random.random() < 0.03:
            return None
        if name in self.hint.values:
            chosen = self.random.choice(self.hint.values[name])
            is_decimal = isinstance(chosen, int) and self.benchmark.types[table][name].startswith("DECIMAL")
            return Decimal(chosen) if is_decimal else chosen  # Spark takes no integer for a decimal
        if name in self.asked and self.random.random() < 0.75:
            return self.random.choice(self.asked[name])
        target = next((table for suffix, (table, _) in _KEYS.items() if name.endswith(suffix)), None)
        if target is not None:
            numbers = range(self.first_key + 1, self.first_key + 1 + self.hint.numbers)
            return self.random.choice(self._keys[target] if target else numbers)
        return cell


def _agreeing(day: Row, names: list[str], values: Mapping[str, tuple[object, ...]]) -> int:
    """How many of a day's columns hold one of the values."""
    return sum(cell in values.get(name, ()) for name, cell in zip(names, day, strict=True))


Change = Callable[[str, list[Row]], list[Row]]
