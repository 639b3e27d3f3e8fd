"""The page's pictures, lags and words, one by one."""

from __future__ import annotations

import doctest
import importlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from ivm_airflow.web.draw_history import HEIGHT, LEFT, TOP, WIDTH, draw_history
from ivm_airflow.web.draw_lineage import MOST, draw_lineage
from ivm_airflow.web.draw_plan import draw_plan
from ivm_airflow.web.lag import TTL_SECONDS, LagReader, read_newest_version
from ivm_airflow.web.words import ago, count, gain, seconds, span

from tests.catalog.records import done

PLAN = """
Project a
  Join inner on a = b
    Filter a > 1
      Scan s.t [a: int]
    Changes s.u [b: int]
""".strip()


def test_a_plan_is_one_line_an_operator_each_linked_to_its_reader():
    drawn = draw_plan(PLAN)
    assert [(item.name, item.kind) for item in drawn.operators] == [
        ("Project", "row"),
        ("Join", "join"),
        ("Filter", "row"),
        ("Scan", "table"),
        ("Changes", "changes"),
    ]
    assert len(drawn.links) == 4
    filter_, changes = drawn.operators[2], drawn.operators[4]
    assert filter_.x == changes.x and filter_.y < changes.y < drawn.height
    assert all(item.x + item.width < drawn.width for item in drawn.operators)


def test_a_long_line_is_cut_in_the_picture_and_whole_in_its_title():
    line = f"Filter {'x' * 500} > 1"
    [item] = draw_plan(line).operators
    assert item.title == line and len(item.detail) < 120 and item.detail.endswith("…")


@pytest.mark.parametrize("full", [None, 0.0, 3.0, 5000.0])
@pytest.mark.parametrize("spent", [[0.0], [0.001], [1.25, 80.0], [0.5] * 50, [7200.0, 1.0]])
def test_every_batch_has_a_bar_inside_the_chart(spent, full):
    drawn = draw_history([done("s.v", number, seconds=value) for number, value in enumerate(spent, 1)], full)
    assert len(drawn.bars) == len(spent)
    for bar in drawn.bars:
        assert bar.x > LEFT and bar.x + bar.width <= WIDTH and bar.y >= TOP - 2.5 and bar.y + bar.height < HEIGHT
    assert 1 <= len(drawn.ticks) <= 6
    assert drawn.full_y is None or TOP - 0.5 <= drawn.full_y < HEIGHT


def test_the_oldest_batch_is_on_the_left_and_a_failed_one_is_marked():
    batches = [done("s.v", 2, error="Boom: <no>"), replace(done("s.v", 1), strategy="full")]
    assert [bar.kind for bar in draw_history(batches, None).bars] == ["full", "failed"]


READS = {"s.a": ["t.x", "t.y", "__ivm.clock"], "s.b": ["s.a", "t.z"], "s.c": ["s.b"], "s.d": ["s.a"], "s.e": ["t.x"]}


def test_lineage_goes_from_tables_to_the_view_and_on_to_its_readers():
    drawn = draw_lineage("s.b", READS, {"s.a", "s.b", "s.c", "s.d", "s.e"})
    at = {box.name: box for box in drawn.boxes}
    assert set(at) == {"t.x", "t.y", "t.z", "s.a", "s.b", "s.c"}
    assert at["t.x"].x < at["s.a"].x < at["s.b"].x < at["s.c"].x
    assert (at["s.b"].kind, at["s.b"].link, at["s.a"].link, at["t.x"].link) == ("this", False, True, False)
    assert len(drawn.curves) == 5 and not drawn.cut
    assert len({(box.x, box.y) for box in drawn.boxes}) == len(at)


def test_lineage_leaves_out_readers_that_the_visitor_may_not_see():
    drawn = draw_lineage("s.a", READS, {"s.a", "s.b"})
    assert {box.name for box in drawn.boxes} == {"t.x", "t.y", "s.a", "s.b"}
    hidden = draw_lineage("s.b", READS, {"s.b"})
    assert {box.name: box.link for box in hidden.boxes if box.name == "s.a"} == {"s.a": False}


def test_lineage_does_not_tell_what_a_hidden_view_reads():
    reads = {"pub.v": ["sec.s", "t.x"], "sec.s": ["sec.t", "hr.salaries"], "sec.t": ["hr.reviews"]}
    drawn = draw_lineage("pub.v", reads, {"pub.v"})
    assert {box.name for box in drawn.boxes} == {"pub.v", "sec.s", "t.x"} and len(drawn.curves) == 2
    seen = draw_lineage("sec.s", {**reads, "pub.w": ["sec.s"]}, {"sec.s", "pub.w"})
    assert {box.name for box in seen.boxes} == {"sec.s", "sec.t", "hr.salaries", "pub.w"} and len(seen.curves) == 3


def test_a_large_lineage_shows_neighbours_only():
    reads = {f"s.v{n}": [f"s.v{n - 1}"] for n in range(1, MOST + 10)}
    drawn = draw_lineage("s.v5", reads, set(reads))
    assert drawn.cut and {box.name for box in drawn.boxes} == {"s.v4", "s.v5", "s.v6"}


def test_lineage_of_views_in_a_circle_ends():
    assert draw_lineage("s.a", {"s.a": ["s.b"], "s.b": ["s.a"]}, {"s.a", "s.b"}).boxes


@pytest.fixture
def table(tmp_path):
    """A Delta table of three commits, an hour apart, the last one now."""
    import deltalake
    import pyarrow as pa

    folder = tmp_path / "a table"
    for rows in (1, 2, 3):
        deltalake.write_deltalake(str(folder), pa.table({"n": pa.array(range(rows))}), mode="append")
    for version in range(3):
        file = folder / "_delta_log" / f"{version:020}.json"
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        for line in lines:
            if "commitInfo" in line:
                at = datetime.now(UTC) - timedelta(hours=2 - version)
                line["commitInfo"]["timestamp"] = int(at.timestamp() * 1000)
        file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return folder


def test_a_lag_is_counted_from_the_first_commit_that_the_view_has_not_seen(table):
    lag = LagReader().of({"s.t": 0, "__ivm.clock": 1}, {"s.t": str(table)})
    assert (lag.versions, lag.rows, lag.known) == (2, 5, True)
    assert 3500 < lag.seconds < 3700
    assert lag.retention_left == pytest.approx(7 * 86400 - 3600, abs=100) and lag.used < 0.01


def test_no_lag_and_no_knowledge(table, tmp_path):
    reader, places = LagReader(), {"s.t": str(table), "s.gone": str(tmp_path / "gone")}
    assert reader.of({"s.t": 2}, places).versions == 0
    assert reader.of({"s.t": 7}, places).retention_left is None
    for unknown in ("s.gone", "s.unregistered"):
        lag = reader.of({"s.t": 1, unknown: 3}, places)
        assert (lag.versions, lag.known) == (1, False)


def test_a_listing_is_believed_for_a_while(table):
    now = [0.0]
    reader = LagReader(lambda: now[0])
    assert reader.of({"s.t": 2}, {"s.t": str(table)}).versions == 0
    log = table / "_delta_log"
    (log / f"{3:020}.json").write_text((log / f"{2:020}.json").read_text("utf-8"), "utf-8")
    assert reader.of({"s.t": 2}, {"s.t": str(table)}).versions == 0
    now[0] = TTL_SECONDS + 1
    assert reader.of({"s.t": 2}, {"s.t": str(table)}).versions == 1


def test_a_broken_log_is_unknown_and_nothing_worse(table):
    (table / "_delta_log" / f"{3:020}.json").write_text("{", "utf-8")
    lag = LagReader().of({"s.t": 1}, {"s.t": str(table)})
    assert (lag.versions, lag.known) == (2, False)


def test_only_commits_count_in_a_listing(tmp_path):
    log = tmp_path / "_delta_log"
    log.mkdir()
    for name in (
        "_last_checkpoint",
        f"{9:020}.checkpoint.parquet",
        f"{8:020}.crc",
        "x.json",
        f"{4:020}.json",
        "5.json",
    ):
        (log / name).touch()
    assert read_newest_version(str(tmp_path)) == 4


def test_words():
    assert [seconds(value) for value in (None, 0.04, 1.23, 38.2, 200)] == ["–", "0.04 s", "1.2 s", "38 s", "3 min 20 s"]
    assert (count(1234567), count(None)) == ("1\u202f234\u202f567", "–")
    assert [gain(*pair) for pair in ((2.0, 10.0), (0.1, 5.0), (None, 1.0), (0.0, 1.0))] == ["5.0×", "50×", "–", "–"]
    assert (span(3 * 86400.0), ago(None)) == ("3 d", "–")
    assert ago(datetime.now(UTC) - timedelta(minutes=5)) == "5 min ago"


@pytest.mark.parametrize("module", ["actions", "draw_plan", "mount", "words"])
def test_examples(module):
    found = doctest.testmod(importlib.import_module(f"ivm_airflow.web.{module}"))
    assert found.attempted > 0 and found.failed == 0
