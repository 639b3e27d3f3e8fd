"""CREATE statements: what is read from them, and what each mistake is answered with."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ivm_core.errors import DefinitionError, InvalidNameError
from ivm_core.plan.definition import OnDrift, Policy, parse_definition, parse_table
from ivm_core.plan.definition_table import parse_foreign_keys
from ivm_core.plan.schedule import check_cron, parse_interval
from ivm_core.plan.schema import ForeignKey

FULL = """\
-- what it is for
CREATE INCREMENTAL MATERIALIZED VIEW Gold.`Revenue_by_nation`
COMMENT 'Profit, it''s said'
TBLPROPERTIES ('ivm.refresh_policy' = 'incremental_strict', ivm.validate_every = '24 hours', 'ivm.on_drift' 'repair', 'x' = '1')
SCHEDULE CRON '0 * * * *' -- hourly
GROUP Nightly
AS WITH q AS (SELECT 'it''s' AS s) SELECT s FROM q;
"""


def test_every_clause_is_read() -> None:
    view = parse_definition(FULL)
    assert view.name == "gold.revenue_by_nation"
    assert view.comment == "Profit, it's said"
    assert (view.schedule, view.group) == ("0 * * * *", "nightly")
    assert (view.policy, view.on_drift) == (Policy.INCREMENTAL_STRICT, OnDrift.REPAIR)
    assert view.validate_every == timedelta(hours=24)
    assert dict(view.properties)["x"] == "1"
    assert view.sql == FULL
    assert view.query.sql("spark") == "WITH q AS (SELECT 'it\\'s' AS s) SELECT s FROM q"


def test_everything_but_the_name_and_the_query_has_a_default() -> None:
    view = parse_definition("create materialized view if not exists v as values (1)")
    assert (view.name, view.group, view.schedule, view.policy) == ("default.v", "default", None, Policy.AUTO)
    assert view.if_not_exists
    assert view.properties == ()


@pytest.mark.parametrize(
    ("schedule", "group"),
    [
        ("0 * * * *", "cron_0_any_any_any_any"),
        ("*/15 0-6,12 * * mon", "cron_every15_0to6and12_any_any_mon"),
        ("@daily", "cron_daily"),
    ],
)
def test_a_schedule_names_the_group(schedule: str, group: str) -> None:
    assert parse_definition(f"CREATE MATERIALIZED VIEW v SCHEDULE CRON '{schedule}' AS SELECT 1 AS a").group == group


@pytest.mark.parametrize(
    ("clauses", "group", "schedule"),
    [
        ("TRIGGER ON UPDATE", "on_update", None),
        ("SCHEDULE CRON '@daily' trigger on update", "cron_daily_or_on_update", "@daily"),
        ("TRIGGER ON UPDATE GROUP eager", "eager", None),
    ],
)
def test_updates_of_tables_can_start_runs(clauses: str, group: str, schedule: str | None) -> None:
    view = parse_definition(f"CREATE MATERIALIZED VIEW v {clauses} AS SELECT 1 AS a")
    assert (view.on_update, view.group, view.schedule) == (True, group, schedule)


def test_lag_and_watch_are_intervals() -> None:
    properties = "TBLPROPERTIES ('ivm.watch_every' = '30 seconds', 'ivm.target_lag' = '1 hour')"
    view = parse_definition(f"CREATE MATERIALIZED VIEW v TRIGGER ON UPDATE {properties} AS SELECT 1 AS a")
    assert (view.watch_every, view.target_lag) == (timedelta(seconds=30), timedelta(hours=1))


HEAD = "CREATE MATERIALIZED VIEW "

MISTAKES = [
    ("", DefinitionError, "Expected CREATE", (1, 1)),
    ("SELECT 1", DefinitionError, "Expected CREATE, found 'SELECT'", (1, 1)),
    ("CREATE VIEW v AS SELECT 1", DefinitionError, "Expected MATERIALIZED", (1, 8)),
    (HEAD + "v", DefinitionError, "no AS", None),
    (HEAD + "v AS", DefinitionError, "not followed by a query", None),
    (HEAD + "v AS SELECT 1; SELECT 2", DefinitionError, "exactly one statement", None),
    (HEAD + "v AS DROP TABLE t", DefinitionError, "not by DROP", (1, 31)),
    (HEAD + "v AS INSERT INTO t VALUES (1)", DefinitionError, "not by INSERT", (1, 31)),
    (HEAD + "v AS DELETE FROM t", DefinitionError, "not by DELETE", (1, 31)),
    (HEAD + "v AS\nSELECT a\nFROM t WHERE (", DefinitionError, "cannot be parsed", (3, 14)),
    (HEAD + "v AS SELECT 'a", DefinitionError, "cannot be read", None),
    (HEAD + "v AS SELECT `a", DefinitionError, "cannot be read", None),
    (HEAD + "v (a, b) AS SELECT 1", DefinitionError, "Unknown clause '('", (1, 28)),
    (HEAD + "v COMMENT 'a' COMMENT 'b' AS SELECT 1", DefinitionError, "COMMENT is given twice", (1, 40)),
    (HEAD + "v COMMENT a AS SELECT 1", DefinitionError, "the comment as a quoted string", (1, 36)),
    (HEAD + "v\nSCHEDULE EVERY 1 HOUR AS SELECT 1", DefinitionError, "Expected CRON", (2, 10)),
    (HEAD + "v\nSCHEDULE CRON '0 25 * * *' AS SELECT 1", DefinitionError, "hour '25' is not between 0 and 23", (2, 15)),
    (HEAD + "v TRIGGER ON CHANGE AS SELECT 1", DefinitionError, "Expected UPDATE, found 'CHANGE'", (1, 39)),
    (HEAD + "v TRIGGER ON UPDATE TRIGGER ON UPDATE AS SELECT 1", DefinitionError, "TRIGGER is given twice", (1, 46)),
    (
        HEAD + "v TBLPROPERTIES ('ivm.watch_every' = '1 minute') AS SELECT 1",
        DefinitionError,
        "needs the clause TRIGGER ON UPDATE",
        (1, 43),
    ),
    (HEAD + "v TBLPROPERTIES ('ivm.target_lag' = 'soon') AS SELECT 1", DefinitionError, "not an interval", (1, 43)),
    (HEAD + "v GROUP `a/b` AS SELECT 1", DefinitionError, "may hold only letters", (1, 34)),
    (
        HEAD + "v TBLPROPERTIES ('ivm.policy' = 'x') AS SELECT 1",
        DefinitionError,
        "Unknown property 'ivm.policy'",
        (1, 43),
    ),
    (
        HEAD + "v TBLPROPERTIES ('ivm.refresh_policy' = 'x') AS SELECT 1",
        DefinitionError,
        "'x' is not one of auto",
        (1, 43),
    ),
    (HEAD + "v TBLPROPERTIES ('ivm.on_drift' = 'x') AS SELECT 1", DefinitionError, "'x' is not one of fail", (1, 43)),
    (
        HEAD + "v TBLPROPERTIES ('ivm.validate_every' = 'daily') AS SELECT 1",
        DefinitionError,
        "not an interval",
        (1, 43),
    ),
    (
        HEAD + "v TBLPROPERTIES ('ivm.validate_sample' = '0.1') AS SELECT 1",
        DefinitionError,
        "not a share",
        (1, 43),
    ),
    (
        HEAD + "v TBLPROPERTIES ('ivm.validate_sample' = '0 %') AS SELECT 1",
        DefinitionError,
        "not a share",
        (1, 43),
    ),
    (
        HEAD + "v TBLPROPERTIES ('ivm.validate_sample' = '101 %') AS SELECT 1",
        DefinitionError,
        "not a share",
        (1, 43),
    ),
    (
        HEAD + "v TBLPROPERTIES ('ivm.validate_sample' = 'nan %') AS SELECT 1",
        DefinitionError,
        "not a share",
        (1, 43),
    ),
    (HEAD + "v TBLPROPERTIES ('a' = '1', 'a' = '2') AS SELECT 1", DefinitionError, "given twice", None),
    (HEAD + "v AS\nSELECT a -- for now \\\nFROM t", DefinitionError, "goes on in the next line for Spark", (2, 10)),
    (HEAD + "a.b.c AS SELECT 1", InvalidNameError, "has 3 parts", (1, 26)),
    (HEAD + "`a.b` AS SELECT 1", InvalidNameError, "dot", (1, 26)),
    (HEAD + "`../x` AS SELECT 1", InvalidNameError, "path separator", (1, 26)),
    (HEAD + "`a\\\\b` AS SELECT 1", InvalidNameError, "path separator", (1, 26)),
    (HEAD + "`a\tb` AS SELECT 1", InvalidNameError, "control character", (1, 26)),
    (HEAD + "`__ivm_x` AS SELECT 1", InvalidNameError, "the prefix __ivm_", (1, 26)),
    (HEAD + "__IVM_x.v AS SELECT 1", InvalidNameError, "the prefix __ivm_", (1, 26)),
    (HEAD + "x" * 129 + " AS SELECT 1", InvalidNameError, "longer than 128", (1, 26)),
    (HEAD + "'v' AS SELECT 1", DefinitionError, "the view's name", (1, 26)),
]


@pytest.mark.parametrize(("sql", "error", "message", "place"), MISTAKES)
def test_mistakes_are_named_and_placed(
    sql: str, error: type[DefinitionError], message: str, place: tuple[int, int] | None
) -> None:
    with pytest.raises(error) as caught:
        parse_definition(sql)
    assert message in str(caught.value)
    assert type(caught.value) is error
    if place:
        assert (caught.value.line, caught.value.column) == place


TABLE = """\
CREATE TABLE IF NOT EXISTS Shop.Orders (
  o_id BIGINT NOT NULL COMMENT 'key', o_line INT NOT NULL, price DECIMAL(15, 2), tags ARRAY<STRUCT<k: STRING, v: INT>>,
  seen TIMESTAMP, local TIMESTAMP_NTZ, `odd name` MAP<STRING, DOUBLE>
) USING DELTA CLUSTER BY (o_id) COMMENT 'Orders'
TBLPROPERTIES ('ivm.primary_key' = 'o_id, o_line', 'ivm.foreign_keys' = 'o_id -> heads(id); o_line, price -> s.x(a, b)')
"""


def test_a_table_is_read_with_types_and_keys() -> None:
    table = parse_table(TABLE)
    assert table.name == "shop.orders"
    assert table.schema.columns == (
        ("o_id", "bigint"),
        ("o_line", "int"),
        ("price", "decimal(15,2)"),
        ("tags", "array<struct<k:string,v:int>>"),
        ("seen", "timestamp"),
        ("local", "timestamp_ntz"),
        ("odd name", "map<string,double>"),
    )
    assert table.schema.primary_key == ("o_id", "o_line")
    assert table.schema.foreign_keys == (
        ForeignKey(("o_id",), "default.heads", ("id",)),
        ForeignKey(("o_line", "price"), "s.x", ("a", "b")),
    )
    assert (table.not_null, table.cluster_by, table.comment) == (("o_id", "o_line"), ("o_id",), "Orders")
    assert table.if_not_exists
    assert table.sql == TABLE


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE TABLE t (a INT)", "USING DELTA"),
        ("CREATE TABLE t (a INT) USING PARQUET", "USING DELTA"),
        ("CREATE TABLE t USING DELTA AS SELECT 1", "list of columns"),
        ("CREATE VIEW t AS SELECT 1", "Expected TABLE"),
        ("CREATE TABLE t (a INT) USING DELTA; DROP TABLE t", "exactly one statement"),
        ("CREATE TABLE t (a INT, A INT) USING DELTA", "duplicate columns"),
        ("CREATE TABLE t (a INT) USING DELTA TBLPROPERTIES ('ivm.primary_key' = 'b')", "no column b"),
        ("CREATE TABLE t (a INT) USING DELTA TBLPROPERTIES ('ivm.key' = 'a')", "Unknown property 'ivm.key'"),
        (
            "CREATE TABLE t (a INT) USING DELTA TBLPROPERTIES ('ivm.foreign_keys' = 'a -> b(c, d)')",
            "from 1 to 2 columns",
        ),
        ("CREATE TABLE t (a INT) USING DELTA TBLPROPERTIES ('ivm.foreign_keys' = 'a => b(c)')", "Expected ->"),
    ],
)
def test_mistakes_in_tables_are_named(sql: str, message: str) -> None:
    with pytest.raises(DefinitionError, match=message.replace("(", r"\(").replace(")", r"\)")):
        parse_table(sql)


def test_no_foreign_keys() -> None:
    assert parse_foreign_keys("") == ()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("24 hours", 86_400),
        ("7 days", 604_800),
        ("30 minutes", 1_800),
        ("1 week", 604_800),
        ("1 day 12 hours", 129_600),
        ("5 SECONDS", 5),
        ("0 hours", None),
        ("-1 hours", None),
        ("hours", None),
        ("1", None),
        ("1 month", None),
        ("1.5 hours", None),
        ("", None),
    ],
)
def test_intervals(text: str, seconds: int | None) -> None:
    assert parse_interval(text) == (timedelta(seconds=seconds) if seconds else None)


@pytest.mark.parametrize(
    "text",
    ["* * * * *", "0 0 1 jan sun", "@hourly", "1-5/2 */2 31 12 7", "0,30 8-18 * * 1-5", "0 0 29 feb *", "0 0 31 2 fri",
     "0 0 30-31/2 2,4 *", "0 0 28-2 2 *", "0 0 31 * *", "0 0 */30 2 *"],
)  # fmt: skip
def test_cron_expressions(text: str) -> None:
    assert check_cron(text) == ""


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "60 * * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *", "a * * * *", "1- * * * *",
     f"*/{'9' * 5000} * * * *", "0 0 30 feb *", "0 0 31/2 apr *", "0 0 30,31 2 *", "0 0 31 4,6,9-9 *"],
)  # fmt: skip
def test_wrong_cron_expressions(text: str) -> None:
    assert check_cron(text)
