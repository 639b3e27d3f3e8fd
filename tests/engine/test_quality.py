"""Great Expectations judges users' expectations by a view's rows, beside the validation."""

from __future__ import annotations

import pytest

from ivm_core.engine.quality import Stated, publish
from ivm_core.validate.expectations import Expectation
from ivm_core.validate.model import ValidationReport

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


def test_what_does_not_hold_is_told_and_shown(spark, tmp_path):
    rows = spark.sql("SELECT * FROM VALUES (1, 'a'), (1, 'b'), (NULL, 'c') AS t (k, name)")
    stated = Stated(
        "gold.a",
        rows,
        (
            Expectation("expect_column_values_to_be_unique", {"column": "k"}),
            Expectation("expect_column_values_to_not_be_null", {"column": "k", "mostly": 0.5}),
            Expectation("expect_table_row_count_to_be_between", {"min_value": 9}, "warning"),
            Expectation("expect_column_values_to_not_be_null", {"column": "k", "mostly": "most"}),
            Expectation("expect_column_max_to_be_between", {"column": "gone", "max_value": 3}),
        ),
    )
    result = publish([ValidationReport("gold.a", True)], spark, tmp_path, "run 1", [stated])
    found = {(item.type, item.severity): item.detail for item in result.broken}
    assert not result.ok, found
    assert found["expect_column_values_to_be_unique", "critical"].startswith("2 of")
    assert found["expect_table_row_count_to_be_between", "warning"] == "observed 3"
    assert found["expect_column_values_to_not_be_null", "critical"].startswith("cannot be judged")
    assert found["expect_column_max_to_be_between", "critical"].startswith("cannot be judged")
    assert len(found) == len(result.broken) == 4
    pages = [page.read_text("utf-8") for page in result.docs_index.parent.rglob("*.html")]
    assert any("rows-gold-a" in page for page in pages)
    assert publish([ValidationReport("gold.a", True)], spark, tmp_path, "run 2").ok


@pytest.mark.parametrize("share", [0, 0.5])
def test_files_that_a_killed_process_left_half_written_fail_no_later_run(spark, tmp_path, share):
    assert publish([ValidationReport("gold.a", True)], spark, tmp_path, "run 1").ok
    files = [file for kind in ("*.yml", "*.json") for file in (tmp_path / "gx").rglob(kind)]
    assert len(files) >= 8
    for file in files:
        text = file.read_bytes()
        file.write_bytes(text[: int(share * len(text))])
    result = publish([ValidationReport("gold.a", True)], spark, tmp_path, "run 2")
    assert result.ok and "run-2" in result.docs_index.read_text("utf-8")
