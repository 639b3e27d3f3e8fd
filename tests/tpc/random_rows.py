"""Random rows in the likeness of a benchmark's own: few keys, so that joins meet, and the values that a query asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from tests.tpc.benchmark import Benchmark, Row

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
_NUMBERS = range(1, 9)
CALENDAR = "date_dim"
KEYED_ROWS, DATES, OTHER_ROWS = 8, 30, 240


@dataclass
class RandomRows:
    """Rows for one query: ``asked`` holds, by column, the values that its filters look for.

    The rows of the calendar stay as they are, each day once: queries count on one number for a month or a week.
    """

    benchmark: Benchmark
    random: Random
    asked: Mapping[str, tuple[object, ...]]
    _keys: dict[str, list[object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        types = self.benchmark.types
        self._key_of = {table: key for table, key in _KEYS.values() if key in types.get(table, ())}
        self._days = self._days_in_order() if CALENDAR in types else []

    def first(self, tables: Iterable[str]) -> dict[str, list[Row]]:
        """The rows of all tables to begin with."""
        for table, key in self._key_of.items():
            rows = self._days[:DATES] if table == CALENDAR else self.benchmark.rows[table][:KEYED_ROWS]
            place = list(self.benchmark.types[table]).index(key)
            self._keys[table] = [row[place] for row in rows]
        self._first_days, self._days = self._days[:DATES], self._days[DATES:]
        return {table: self._first_rows(table) for table in tables}

    def inserted(self, table: str, rows: list[Row]) -> list[Row]:
        """New rows, a tenth more, one of them twice where the table has no key."""
        new = [self._row(table, self._new_key(table)) for _ in range(max(2, len(rows) // 10))]
        return rows + new + ([] if table in self._key_of else new[:1])

    def deleted(self, table: str, rows: list[Row]) -> list[Row]:
        """A seventh of the rows gone, and at least one."""
        return [row for place, row in enumerate(rows) if place and self.random.randrange(7)]

    def mixed(self, table: str, rows: list[Row]) -> list[Row]:
        """Rows inserted, deleted, and changed in one or two columns, keys among them."""
        changed: list[Row] = []
        for row in rows:
            chance = self.random.randrange(10)
            if chance == 0:
                continue
            if chance <= 2:
                fresh = self._row(table, row[0])
                places = range(len(row)) if table == CALENDAR else self.random.choices(range(len(row)), k=2)
                row = tuple(fresh[place] if place in places else cell for place, cell in enumerate(row))
            changed.append(row)
        return self.inserted(table, changed)

    def _first_keys(self, table: str) -> list[object]:
        if table not in self._key_of:
            return [None] * OTHER_ROWS
        return [*self._keys[table], *(self._new_key(table) for _ in range(4 - len(self._keys[table])))]

    def _first_rows(self, table: str) -> list[Row]:
        if table == CALENDAR:
            return self._first_days
        return [self._row(table, key) for key in self._first_keys(table)]

    def _days_in_order(self) -> list[Row]:
        """Days that the query asks for and the days about them come first, then any."""
        days = list(self.benchmark.rows[CALENDAR])
        places = {place: set(self.asked.get(name, ())) for place, name in enumerate(self.benchmark.types[CALENDAR])}
        asked = {day: sum(day[place] in values for place, values in places.items()) for day in days}
        number = {day: position for position, day in enumerate(days)}
        self.random.shuffle(days)
        best = sorted(days, key=lambda day: -asked[day])[: DATES // 2]
        near = [day for day in days if any(abs(number[day] - number[other]) <= 3 for other in best[: DATES // 6])]
        return list(dict.fromkeys([*best, *near[: DATES // 4], *days]))

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
        target = next((table for suffix, (table, _) in _KEYS.items() if name.endswith(suffix)), None)
        if target is not None:
            return self.random.choice(self._keys[target] if target else _NUMBERS)
        if name in self.asked and self.random.random() < 0.75:
            return self.random.choice(self.asked[name])
        return cell


Change = Callable[[str, list[Row]], list[Row]]
