"""`ivm apply` takes users' expectations into the manifest, or says what is wrong with them."""

from __future__ import annotations

import json

import pytest

from ivm_core import Engine
from ivm_core.errors import DefinitionError

pytestmark = pytest.mark.spark

TABLE = "CREATE TABLE exq.t (k INT, v INT) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
VIEW = "CREATE MATERIALIZED VIEW exq.sums AS SELECT k, sum(v) AS s FROM exq.t GROUP BY k"


def test_apply(spark, tmp_path):
    for folder in ("tables", "views", "expectations"):
        (tmp_path / "sql" / folder).mkdir(parents=True)
    (tmp_path / "sql/tables/t.sql").write_text(TABLE)
    (tmp_path / "sql/views/totals.sql").write_text(VIEW)
    stated, manifest = tmp_path / "sql/expectations/totals.json", tmp_path / "manifest.json"
    spark.sql("CREATE SCHEMA IF NOT EXISTS exq")
    (tmp_path / "ivm.toml").write_text('manifest = "manifest.json"\ncatalog = "sqlite:///ivm.db"\nwarehouse = "w"\n')

    with Engine.open(spark=spark, settings=tmp_path / "ivm.toml") as engine:

        def apply(column):
            stated.write_text(json.dumps([{"type": "expect_column_to_exist", "kwargs": {"column": column}}]))
            engine.apply(tmp_path / "sql")
            return json.loads(manifest.read_text())["expectations"]

        assert [item["kwargs"] for item in apply("s")["exq.sums"]] == [{"column": "s"}]
        (tmp_path / "sql/views/totals.sql").write_text(VIEW.replace(" AS SELECT", " GROUP nightly AS SELECT"))
        with pytest.raises(DefinitionError, match=r"exq\.sums name the column 'v'"):
            apply("v")
        written = json.loads(manifest.read_text())  # of the view as it is by then, so that its group's DAG maintains it
        assert [group["name"] for group in written["groups"]] == ["nightly"]
        assert [item["kwargs"] for item in written["expectations"]["exq.sums"]] == [{"column": "s"}]
        other = tmp_path / "other" / "views"
        other.mkdir(parents=True)
        (other / "others.sql").write_text("CREATE MATERIALIZED VIEW exq.others AS SELECT k FROM exq.t")
        engine.apply(other.parent)
        assert [item["kwargs"] for item in json.loads(manifest.read_text())["expectations"]["exq.sums"]] == [
            {"column": "s"}
        ]
        stated.unlink()
        engine.apply(tmp_path / "sql")
        assert json.loads(manifest.read_text())["expectations"] == {}
