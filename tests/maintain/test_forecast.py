"""What `ivm explain --cost` foretells is what the next batch then does."""

from __future__ import annotations

import pytest

from ivm_core.plan.definition import Policy
from tests.maintain.test_identities import FIRST, SECOND, Deployment

pytestmark = pytest.mark.spark


def test_the_next_batch_is_the_one_foretold(spark, tmp_path):
    queries = {"totals": "SELECT g, count(*) AS n, sum(v) AS total FROM {s}.f GROUP BY g"}
    deployment = Deployment(spark, tmp_path, "foretold", queries)
    engine = deployment.engine
    quiet = engine.forecast("foretold.totals")
    assert (quiet.strategy, quiet.reason, quiet.changed_rows) == ("noop", "already_current", {})
    for changes, rows in ((FIRST, 4), (SECOND, 8)):
        deployment.run(*changes)
        ahead = engine.forecast("foretold.totals")
        [report] = engine.maintain()
        assert (ahead.strategy, ahead.reason) == (report.strategy, report.reason) == ("incremental", "linear")
        assert sum(ahead.changed_rows.values()) == rows
        made = engine.history("foretold.totals", 1)[0]
        assert made.predicted_incremental_seconds == ahead.predicted_incremental_seconds
        assert made.predicted_full_seconds == ahead.predicted_full_seconds is not None
    newest, *_, first = engine.forecast("foretold.totals").past
    assert (newest.number, newest.strategy, newest.changed_rows) == (3, "incremental", 8)
    assert newest.predicted_seconds == ahead.predicted_incremental_seconds is not None
    assert (first.number, first.strategy, first.predicted_seconds) == (1, "full", None)


@pytest.mark.parametrize(("rows", "reason"), [(250_000, "cheaper"), (50_000, "linear")])
def test_what_was_never_measured_is_not_tried_on_much_of_its_tables(spark, tmp_path, rows, reason):
    queries = {"much": "SELECT g, count(*) AS n, sum(v) AS total FROM {s}.f GROUP BY g"}
    deployment = Deployment(spark, tmp_path, f"unmeasured_{rows}", queries)
    target = f"unmeasured_{rows}.f"
    columns = [f"CAST(NULL AS {kind}) AS {name}" for name, kind in spark.table(target).dtypes]
    spark.range(rows).selectExpr(*columns).write.format("delta").mode("append").saveAsTable(target)
    [report] = deployment.engine.maintain(policy=Policy.AUTO)
    assert report.reason == reason
    deployment.check()


@pytest.mark.parametrize("beside", [(), ("INSERT INTO {s}.d VALUES (1, 'x'), (2, 'y'), (3, 'z')",)])
def test_other_batches_are_not_predicted_from_one_whose_commits_count_no_rows(spark, tmp_path, beside):
    """RESTORE's commit has no number of rows, and what it changed is found in all rows of the files that it moved."""
    schema = f"uncounted_rows_{len(beside)}"
    queries = {"rows": "SELECT f.id, d.name FROM {s}.f f LEFT JOIN {s}.d d ON f.k = d.k"}
    deployment = Deployment(spark, tmp_path, schema, queries)
    engine = deployment.engine
    deployment.run("INSERT INTO {s}.f SELECT id, id, 'g', id FROM range(100000)")
    engine.maintain(policy=Policy.FULL)
    few = "INSERT INTO {s}.f VALUES (90, 1, 'a', 7), (91, 1, 'b', 8)"
    deployment.run(few)
    engine.maintain()
    version = spark.sql(f"DESCRIBE HISTORY {schema}.f").first().version
    deployment.run(few)
    expected = engine.forecast(f"{schema}.rows").predicted_incremental_seconds
    deployment.run(f"RESTORE TABLE {{s}}.f TO VERSION AS OF {version - 1}", *beside)
    engine.maintain()
    deployment.check()
    deployment.run(few)
    ahead = engine.forecast(f"{schema}.rows")
    # Of two more rows the RESTORE, which took them back, leaves no count.
    assert [batch.changed_rows for batch in ahead.past[:2]] == [3 * len(beside), 2]
    assert ahead.predicted_incremental_seconds == pytest.approx(expected, rel=0.01)


def test_a_restore_is_chosen_for_by_all_rows_of_the_files_that_it_moves(spark, tmp_path):
    deployment = Deployment(spark, tmp_path, "moved_rows", {"rows": "SELECT id, g FROM {s}.f"})
    engine = deployment.engine
    columns = [f"CAST(id AS {kind}) AS {name}" for name, kind in spark.table("moved_rows.f").dtypes]
    rows = spark.range(300_000).selectExpr(*columns)
    rows.write.format("delta").mode("append").saveAsTable("moved_rows.f")
    before = spark.sql("DESCRIBE HISTORY moved_rows.f").first().version
    rows.write.format("delta").mode("append").saveAsTable("moved_rows.f")
    engine.maintain(policy=Policy.FULL)
    few = "INSERT INTO {s}.f VALUES (90, 1, 'a', 7), (91, 1, 'b', 8)"
    for _ in range(2):
        deployment.run(few)
        engine.maintain(policy=Policy.INCREMENTAL)
    deployment.run(few)
    one, _ = engine.forecast("moved_rows.rows"), engine.maintain(policy=Policy.INCREMENTAL)
    deployment.run(f"RESTORE TABLE {{s}}.f TO VERSION AS OF {before}")
    restored = engine.forecast("moved_rows.rows")
    assert restored.changed_rows == {"moved_rows.f": 0}
    assert restored.predicted_incremental_seconds > 2 * one.predicted_incremental_seconds
    [report] = engine.maintain(policy=Policy.INCREMENTAL)
    deployment.check()
    assert report.strategy == "incremental"
