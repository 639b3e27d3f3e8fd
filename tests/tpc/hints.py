"""What random rows need, by query, for its result to have rows: values of columns and numbers of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal


@dataclass(frozen=True)
class Hint:
    """``values``: those that a column holds, NULLs aside; ``rows``: how many a table has at first.

    ``numbers``: how many tickets and orders there are. ``calm``: a batch changes so many times fewer rows. Days that have all values of the calendar's columns come first.
    """

    values: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    numbers: int = 8
    calm: int = 1


def _hint(rows: Mapping[str, int] | None = None, numbers: int = 8, calm: int = 1, **values: object) -> Hint:
    """A hint whose values are given as keywords: one, or a tuple of several."""
    tuples = {name: value if isinstance(value, tuple) else (value,) for name, value in values.items()}
    return Hint(tuples, rows or {}, numbers, calm)


NO_HINT = Hint()
HINTS: Mapping[tuple[str, int], Hint] = {
    ("tpch", 3): _hint({"customer": 20, "orders": 60}),
    ("tpch", 8): _hint({"orders": 60}, r_name="AMERICA", p_type="ECONOMY ANODIZED STEEL"),
    ("tpch", 10): _hint({"orders": 60}),
    ("tpch", 16): _hint(
        p_brand=("Brand#12", "Brand#45"),
        p_type=("SMALL BRUSHED TIN", "MEDIUM POLISHED TIN"),
        s_comment=("fine", "slow", "Customer Complaints"),
    ),
    ("tpch", 21): _hint(
        {"orders": 60},
        n_name="SAUDI ARABIA",
        l_commitdate=date(1995, 1, 10),
        l_receiptdate=(date(1995, 1, 9), date(1995, 1, 5), date(1995, 1, 10), date(1995, 1, 15)),
    ),
    ("tpch", 22): _hint({"customer": 40, "orders": 20}, c_acctbal=(0, 5, 50, 500, 900)),
    ("tpcds", 2): _hint(d_week_seq=(5279, 5280, 5332, 5333)),
    ("tpcds", 4): _hint({"customer": 10}, d_year=(2001, 2002)),
    ("tpcds", 6): _hint(
        {"item": 20},
        8,
        3,
        d_year=2001,
        d_moy=1,
        ca_state="TN",
        i_category=("Books", "Music"),
        i_current_price=(1, 1, 2, 9),
    ),
    ("tpcds", 8): _hint(
        {"customer": 30}, d_year=1998, d_qoy=2, ca_zip=("24128", "24128-0001"), s_zip="24189", c_preferred_cust_flag="Y"
    ),
    ("tpcds", 11): _hint(None, 8, 3, d_year=(2001, 2002)),
    ("tpcds", 17): _hint({"item": 4, "customer": 4}, 4, 3, d_quarter_name=("2001Q1", "2001Q2", "2001Q3")),
    ("tpcds", 19): _hint(d_year=1998, d_moy=11),
    ("tpcds", 21): _hint(
        {"warehouse": 2, "item": 2},
        d_year=2000,
        d_moy=(2, 3, 4),
        i_current_price=(Decimal("0.99"), Decimal("1.2")),
        inv_quantity_on_hand=(10, 20),
    ),
    ("tpcds", 23): _hint({"item": 2, "date_dim": 6, "customer": 4}, d_year=2000, d_moy=2),
    ("tpcds", 24): _hint({"item": 3}, 4, s_zip="31904", ca_zip="31904", s_market_id=8, i_color=("peach", "puff")),
    ("tpcds", 25): _hint({"item": 3, "customer": 3}, 3, d_year=2001, d_moy=(4, 5, 6, 7, 8, 9, 10)),
    ("tpcds", 26): _hint(d_year=2000),
    ("tpcds", 29): _hint({"item": 3, "customer": 3}, 3, d_year=1999, d_moy=(9, 9, 10, 11, 12)),
    ("tpcds", 31): _hint(
        {"customer_address": 24, "store_sales": 1000, "web_sales": 1000},
        d_year=2000,
        d_qoy=(1, 2, 3),
        ca_county=tuple("ABCDEFGHIJKL"),
    ),
    ("tpcds", 34): _hint(
        {"customer": 4, "store_sales": 1200},
        ss_ticket_number=(1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4),
        d_year=(1999, 2000),
        d_dom=(1, 2, 3, 25, 26, 27, 28),
        hd_vehicle_count=(1, 2),
        hd_dep_count=5,
        hd_buy_potential=(">10000", "Unknown"),
        s_county="Williamson County",
    ),
    ("tpcds", 35): _hint(None, 8, 3),
    ("tpcds", 39): _hint({"warehouse": 2, "item": 2}, d_year=2001, d_moy=(1, 2), inv_quantity_on_hand=(0, 0, 0, 500)),
    ("tpcds", 40): _hint(
        {"item": 4, "warehouse": 3}, d_year=2000, d_moy=(2, 3, 4), i_current_price=(Decimal("0.99"), Decimal("1.2"))
    ),
    ("tpcds", 41): _hint(
        {"item": 30},
        i_manufact=("ableanti", "pri"),
        i_category=("Women", "Men"),
        i_color=("powder", "khaki"),
        i_units=("Ounce", "Oz"),
        i_size=("medium", "petite"),
    ),
    ("tpcds", 44): _hint(ss_net_profit=(10, 20, 30)),
    ("tpcds", 50): _hint(None, 8, 3),
    ("tpcds", 54): _hint(
        {"customer": 4},
        d_month_seq=(1187, 1188, 1189, 1190),
        i_category="Women",
        i_class=("maternity", "dresses"),
        ca_county="Williamson County",
        s_county="Williamson County",
        ca_state="TN",
        s_state="TN",
    ),
    ("tpcds", 58): _hint(
        {"item": 1, "date_dim": 1, "store_sales": 400, "catalog_sales": 400, "web_sales": 400},
        d_date=date(2000, 1, 3),
        ss_ext_sales_price=100,
        cs_ext_sales_price=100,
        ws_ext_sales_price=100,
    ),
    ("tpcds", 64): _hint(
        {
            "item": 2,
            "store_sales": 200,
            "store_returns": 20,
            "catalog_sales": 40,
            "catalog_returns": 20,
            "store": 2,
            "customer": 30,
            "date_dim": 60,
            "customer_demographics": 16,
            "household_demographics": 16,
            "customer_address": 16,
            "promotion": 16,
        },
        2,
        5,
        d_year=(1999, 2000),
        i_current_price=(65, 70),
        i_color=("purple", "burlywood"),
        cs_ext_list_price=1000,
        cr_refunded_cash=1,
        cr_reversed_charge=1,
        cr_store_credit=1,
        cd_marital_status=("M", "S", "W", "D"),
        s_zip="31904",
        s_store_name="ought",
    ),
    ("tpcds", 65): _hint({"item": 30}, d_month_seq=(1176, 1177, 1178), ss_sales_price=(1, 90)),
    ("tpcds", 69): _hint({"customer": 60, "web_sales": 20, "catalog_sales": 20}, d_year=2001, d_moy=(4, 5, 6)),
    ("tpcds", 72): _hint(
        {"item": 4},
        d_week_seq=(5180, 5181),
        hd_buy_potential=">10000",
        cd_marital_status=("D", "S"),
        inv_quantity_on_hand=(1, 50),
    ),
    ("tpcds", 73): _hint(d_year=1999),
    ("tpcds", 78): _hint(
        {"item": 4, "customer": 4, "store_returns": 10, "catalog_returns": 10, "web_returns": 10}, d_year=2000
    ),
    ("tpcds", 80): _hint(d_year=2000, d_moy=(8, 9)),
    ("tpcds", 83): _hint(None, 8, 3),
    ("tpcds", 84): _hint(
        {"customer": 30},
        8,
        3,
        ca_city=("Edgewood", "Midway"),
        ib_lower_bound=(38128, 40000),
        ib_upper_bound=(88128, 60000),
    ),
    ("tpcds", 85): _hint(
        {"item": 3},
        3,
        d_year=2000,
        cd_marital_status=("M", "S"),
        cd_education_status=("Advanced Degree", "College"),
        ws_sales_price=(100, 120),
        ws_net_profit=(150, 160),
        ca_country="United States",
        ca_state=("IN", "WI"),
    ),
    ("tpcds", 89): _hint(None, 8, 3),
    ("tpcds", 91): _hint(
        {"customer": 30, "customer_demographics": 12, "household_demographics": 12, "customer_address": 12},
        d_year=1998,
        d_moy=11,
        cd_marital_status="M",
        cd_education_status=("Unknown", "Advanced Degree"),
        hd_buy_potential=("Unknown", ">10000"),
        ca_gmt_offset=-7,
    ),
}


def hint_of(kind: str, number: int) -> Hint:
    """What the query's rows need; nothing in particular for most queries."""
    return HINTS.get((kind, number), NO_HINT)
