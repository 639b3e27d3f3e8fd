"""What may go wrong while a large table is read for all views of a run: it costs a scan, and hides no failure."""

from __future__ import annotations

import pyarrow as pa
import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException

from ivm_core.batch.model import CommitClass, TableRange
from ivm_core.engine.changes import ChangeCache
from ivm_core.engine.model import Relation
from ivm_core.engine.slices import Expected, Slices
from ivm_core.errors import HistoryGone
from ivm_core.job.facts import LARGE, TableFacts
from ivm_core.plan.join_graph import JoinEdge

LINES = Relation("lines", "/lines", "1", (("order", "bigint"), ("price", "bigint")), rows=LARGE)
ORDERS = Relation("orders", "/orders", "2", (("key", "bigint"),), rows=10)


def expected() -> Expected:
    return Expected(
        edges=(JoinEdge("lines", ("order",), "orders", ("key",)),),
        ranges={name: TableRange(name, name, 1, 2, CommitClass.MUTATING) for name in ("lines", "orders")},
        relations={"lines": LINES, "orders": ORDERS},
        facts={"lines": TableFacts(rows=LARGE), "orders": TableFacts(rows=10, key=("key",))},
        readers={"lines": 2, "orders": 2},
    )


@pytest.mark.parametrize("failure", [HistoryGone("orders was vacuumed"), PySparkException("no such file")])
def test_a_table_that_cannot_be_read_leaves_the_others_to_their_views(failure):
    asked = []

    def changes(relation, covered, columns):
        asked.append(relation.name)
        raise failure

    slices = Slices(None, None, changes, {}, expected, ())
    wanted = {"order": pa.array([1, 2])}
    assert slices.find(LINES, 2, ["price"], wanted) is None
    assert slices.find(LINES, 2, ["price"], wanted) is None
    assert asked == ["orders"]  # and it is not tried again for every term


@pytest.mark.parametrize(
    "gone",
    [PySparkException("the server is gone"), Py4JNetworkError("no answer"), ConnectionRefusedError(111)],
    ids=repr,
)
def test_a_session_that_has_died_does_not_hide_what_failed(gone):
    class Dead:
        @property
        def catalog(self):
            raise gone

    cache = ChangeCache(lambda: Dead())
    with pytest.raises(HistoryGone), cache:
        assert cache.spark
        cache.names.give_back([cache.names.take()])
        raise HistoryGone("the first failure")
