"""What `status` says of how far a view is behind its tables."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from tests.maintain.database import FEED, run

pytestmark = pytest.mark.spark


def test_commits_that_change_no_row_are_no_lag(spark, tmp_path):
    run(
        spark,
        "CREATE SCHEMA behind",
        f"CREATE TABLE behind.t (id int) USING DELTA {FEED}",
        "INSERT INTO behind.t VALUES (1)",
        "INSERT INTO behind.t VALUES (2)",
    )
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
        engine.create("CREATE INCREMENTAL MATERIALIZED VIEW behind.v AS SELECT id FROM behind.t")
        run(spark, "OPTIMIZE behind.t")
        (found,) = engine.status()
        assert (sum(found.lag_versions.values()), found.lag_rows, found.lag_seconds) == (0, 0, 0.0)
        run(spark, "INSERT INTO behind.t VALUES (3)")
        (found,) = engine.status()
        assert (found.lag_versions, found.lag_rows) == ({"behind.t": 1}, 1)
        assert found.lag_seconds > 0
    run(spark, "DROP SCHEMA behind CASCADE")
