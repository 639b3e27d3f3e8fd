"""Views over views: diamonds, over groups that HAVING, LIMIT and windows choose from, over a view that is refreshed in full."""

from __future__ import annotations

import pytest

from tests.maintain.test_identities import FIRST, SECOND, Deployment

pytestmark = pytest.mark.spark

UPSTREAM = {
    "joined": "SELECT f.id, f.g, f.v, d.name FROM {s}.f f LEFT JOIN {s}.d d ON f.k = d.k",
    "totals": "SELECT g, count(*) AS n, sum(v) AS total FROM {s}.f GROUP BY g HAVING count(*) > 1",
    "top_groups": "SELECT g, sum(v) AS total FROM {s}.f GROUP BY g ORDER BY total DESC, g LIMIT 2",
    "ranked_groups": "SELECT g, rank() OVER (ORDER BY sum(v) DESC) AS place FROM {s}.f GROUP BY g",
    "refreshed": "SELECT id, g, v FROM {s}.f WHERE v > 5",
}
DOWNSTREAM = {
    "names": "SELECT name, count(*) AS n, max(v) AS hi FROM {s}.joined GROUP BY name",
    "diamond": "SELECT j.id, j.name, t.total FROM {s}.joined j JOIN {s}.totals t ON j.g = t.g",
    "of_top": "SELECT t.g, t.total, f.id FROM {s}.top_groups t JOIN {s}.f f ON t.g = f.g",
    "first_places": "SELECT count(*) AS n, min(g) AS least FROM {s}.ranked_groups WHERE place <= 2",
    "of_refreshed": "SELECT g, sum(v) AS total FROM {s}.refreshed GROUP BY g",
}
THIRD = ("DELETE FROM {s}.f WHERE g = 'b'", "INSERT INTO {s}.f VALUES (9, 3, 'c', 500), (10, NULL, 'c', 1)")


def test_views_follow_views(spark, tmp_path):
    deployment = Deployment(spark, tmp_path, "above", UPSTREAM | DOWNSTREAM)
    for changes in (FIRST, SECOND, THIRD):
        deployment.run(*changes)
        deployment.engine.maintain(["above.refreshed"], policy="full")
        reports = {report.view.removeprefix("above."): report for report in deployment.engine.maintain()}
        deployment.check()
        kept = {name: report.strategy for name, report in reports.items() if name != "refreshed"}
        assert set(kept.values()) <= {"incremental", "affected", "noop"}, {n: reports[n].detail for n in kept}
        assert kept["top_groups"] == kept["ranked_groups"] == "incremental"
    assert not deployment.changed()
