"""A sample of random views by the whole path on Spark and Delta; ``python -m tests.fuzz --spark`` runs more."""

from __future__ import annotations

import pytest

from tests.fuzz.on_spark import search_on_spark

pytestmark = pytest.mark.spark


def test_random_views_follow_their_tables_on_spark(spark, tmp_path):
    for found in search_on_spark(spark, tmp_path, range(6), traces=1):
        assert not found.wrong, "\n\n".join(found.wrong)
        assert found.outcomes["right"] >= 4, found
