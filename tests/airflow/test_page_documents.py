"""What runs leave behind, as the page serves it: reports of groups that one may see, Data Docs, and no other file."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from ivm_airflow.deployment import note_documented
from ivm_airflow.links import ReportLink
from ivm_airflow.slug import report_name, slug
from ivm_airflow.web import visits
from ivm_airflow.web.run_reports import reported
from ivm_airflow.web.store import Store

from ivm_core.engine.quality import docs_site

from .page_deployment import NIGHTLY, make_deployment
from .page_reports import SCRIPT, add_reports, write_run
from .page_site import Site, make_site

DAG = "ivm_tpch"
VIEW = "tpch.q05_local_supplier_volume"


@pytest.fixture(scope="module")
def deployment(tmp_path_factory) -> Path:
    settings = make_deployment(tmp_path_factory.mktemp("documents"))
    reports = settings.parent / "reports"
    add_reports(reports, 5)
    write_run(reports, "manual__<b>", "tpch", VIEW, seconds=2.0, error=f"{SCRIPT} is gone")
    write_run(reports, "nightly__1", "nightly", NIGHTLY[0], seconds=3.0)
    (reports / "odd.json").write_text("[]", "utf-8")
    (reports / "odd.html").write_text("root: secret", "utf-8")
    docs = docs_site(reports / "quality")
    docs.mkdir(parents=True)
    (docs / "index.html").write_text("<h1>Docs</h1>", "utf-8")
    (docs.parents[2] / "great_expectations.yml").write_text("root: secret", "utf-8")
    return settings


@pytest.fixture(scope="module")
def store(deployment) -> Store:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("IVM_SETTINGS", str(deployment))
        return Store.open()


@pytest.fixture
def site(deployment, store, monkeypatch) -> Site:
    monkeypatch.setenv("IVM_SETTINGS", str(deployment))
    monkeypatch.delenv("IVM_MANIFEST", raising=False)
    return make_site(lambda: store)


def test_reports_are_listed_newest_first_with_their_trend(site):
    text = site.client("viewer").get("/ivm/reports/?group=tpch").text
    places = [text.index(f">{run}</a>") for run in ("manual__&lt;b&gt;", "scheduled__5", "scheduled__1")]
    assert places == sorted(places) and "nightly__1" not in text
    assert text.count('<svg class="chart"') == 2 and text.count('<rect class="failed"') == 2 + 2  # with the legends
    assert SCRIPT not in text
    everything = site.client("viewer").get("/ivm/reports/").text
    assert "nightly__1" in everything and '<svg class="chart"' not in everything, "groups do not compare"
    assert "/ivm/reports/" in site.client("viewer").get("/ivm/").text


def test_a_report_is_a_page_and_data(site):
    client = site.client("viewer")
    page, data = (
        client.get(f"/ivm/reports/{report_name(DAG, 'scheduled__2')}.{ending}") for ending in ("html", "json")
    )
    assert VIEW in page.text and SCRIPT not in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'; ") and "script" not in policy
    assert data.headers["content-type"] == "application/json" and data.headers["x-content-type-options"] == "nosniff"
    report = json.loads(data.text)
    assert (report["run_id"], report["seconds"], report["ok"]) == ("scheduled__2", 2.0, True)


def test_reports_are_for_those_who_may_see_the_group(site):
    site.staff.hidden.add(DAG)
    client = site.client("viewer")
    text = client.get("/ivm/reports/").text
    assert "nightly__1" in text and "scheduled__" not in text
    for ending in ("html", "json"):
        assert client.get(f"/ivm/reports/{report_name('ivm_nightly', 'nightly__1')}.{ending}").status_code == 200
        assert client.get(f"/ivm/reports/{report_name(DAG, 'scheduled__2')}.{ending}").status_code == 404
    assert "scheduled__" not in client.get("/ivm/reports/?group=tpch").text


def test_runs_of_two_groups_may_share_their_id(site, deployment):
    reports = deployment.parent / "reports"
    links = []
    for group, view in (("tpch", VIEW), ("nightly", NIGHTLY[0])):
        name = write_run(reports, "scheduled__midnight", group, view, seconds=1.0)
        ti_key = SimpleNamespace(dag_id=f"ivm_{group}", run_id="scheduled__midnight")
        links.append(ReportLink().get_link(None, ti_key=ti_key))
        assert links[-1].endswith(f"/reports/{name}.html") and reported(group, ["scheduled__midnight"]) == {
            "scheduled__midnight": name
        }
        data = json.loads(site.client("viewer").get(f"/ivm/reports/{name}.json").text)
        assert (data["group"], data["views"][0]["view"]) == (group, view)
    assert len(set(links)) == 2


def test_a_report_under_the_name_of_earlier_versions_is_found(site, deployment):
    reports = deployment.parent / "reports"
    name, older = write_run(reports, "old__1", "tpch", VIEW, seconds=1.0), slug("old__1")
    for ending in ("html", "json"):
        (reports / f"{name}.{ending}").rename(reports / f"{older}.{ending}")
    assert reported("tpch", ["old__1"]) == {"old__1": older} and reported("nightly", ["old__1"]) == {}
    assert VIEW in site.client("viewer").get(f"/ivm/reports/{older}.html").text
    for ending in ("html", "json"):
        (reports / f"{older}.{ending}").unlink()


PATHS = ("..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/ivm.toml", "%2fetc%2fpasswd", "x%00y")


@pytest.mark.parametrize(
    "path",
    [
        *PATHS,
        "..%2fmanifest.json",
        "odd.html",
        "odd.json",
        "linked.json",
        "linked.html",
        ".json",
        "quality",
        "%ff.json",
    ],
)
def test_reports_give_no_other_file(site, deployment, path):
    reports = deployment.parent / "reports"
    outside = deployment.parent / "outside.json"
    outside.write_text((reports / f"{report_name(DAG, 'scheduled__1')}.json").read_text("utf-8"), "utf-8")
    for ending in ("json", "html"):
        link = reports / f"linked.{ending}"
        link.unlink(missing_ok=True)
        link.symlink_to(outside)
    answer = site.client("admin").get(f"/ivm/reports/{path}")
    assert answer.status_code == 404 and "secret" not in answer.text


@pytest.mark.parametrize(
    "path", [*PATHS, "", "../../../great_expectations.yml", "%2e%2e/%2e%2e/%2e%2e/great_expectations.yml"]
)
def test_data_docs_give_no_other_file(site, deployment, path):
    (deployment.parent / "reports" / "secret.txt").write_text("root: secret", "utf-8")
    answer = site.client("admin").get(f"/ivm/data-docs/{path}")
    assert answer.status_code == 404 and "secret" not in answer.text


def test_data_docs_are_for_those_who_may_see_every_group(site):
    answer = site.client("viewer").get("/ivm/data-docs/index.html")
    assert answer.text == "<h1>Docs</h1>"
    assert "Data Docs" in site.client("viewer").get("/ivm/").text
    site.staff.hidden.add(DAG)
    assert site.client("viewer").get("/ivm/data-docs/index.html").status_code == 404


def test_data_docs_of_a_group_that_is_gone_stay_its_own(site, deployment, monkeypatch):
    monkeypatch.setenv("IVM_SETTINGS", str(deployment))
    note_documented("ivm_gone")
    assert site.client("viewer").get("/ivm/data-docs/index.html").status_code == 200
    site.staff.hidden.add("ivm_gone")
    assert site.client("viewer").get("/ivm/data-docs/index.html").status_code == 404
    assert "Data Docs" not in site.client("viewer").get("/ivm/").text


def test_data_docs_of_nobody_knows_whom_are_for_nobody(site, store, monkeypatch):
    monkeypatch.setattr(type(store), "activity", lambda _: ())
    monkeypatch.setattr(visits, "documented", frozenset)
    assert site.client("viewer").get("/ivm/data-docs/index.html").status_code == 404


def test_data_docs_run_their_scripts_in_a_sandbox_of_their_own(site):
    client = site.client("viewer")
    policy = client.get("/ivm/data-docs/index.html").headers["content-security-policy"]
    parts = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    # With `allow-same-origin` scripts of theirs would have the visitor's login.
    assert parts["sandbox"] == "allow-scripts"
    assert parts["connect-src"] == parts["form-action"] == parts["base-uri"] == parts["default-src"] == "'none'"
    assert "*" not in policy and "'self'" not in parts["script-src"] and "unsafe-eval" not in policy
    assert "script" not in client.get("/ivm/").headers["content-security-policy"]


def test_data_docs_may_be_kept_from_scripts(store, deployment, monkeypatch):
    monkeypatch.setenv("IVM_SETTINGS", str(deployment))
    answer = make_site(lambda: store, docs_scripts=False).client("viewer").get("/ivm/data-docs/index.html")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox; ") and "script" not in policy and "https:" not in policy
