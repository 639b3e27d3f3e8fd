"""The page in a real Airflow API server: every address for every role, and a form's way to a queued run."""

from __future__ import annotations

import re

import pytest

from .page_deployment import make_deployment
from .page_server import PEOPLE, serve

pytestmark = pytest.mark.airflow

VIEW = "tpch.q05_local_supplier_volume"
GETS = (
    "/ivm/",
    f"/ivm/views/{VIEW}",
    "/ivm/page.css",
    "/ivm/data-docs/index.html",
    "/ivm/reports/",
    "/ivm/reports/x.html",
    "/ivm/nothing",
    "/ivm/openapi.json",
)
STATUS = (200, 200, 200, 404, 200, 404, 404, 404)
MAY_START = {"viewer": False, "user": True, "op": True, "admin": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    with serve(folder / "airflow", make_deployment(folder / "deployment")) as running:
        yield running


def token_of(text):
    return re.search(r'name="token" value="([^"]+)"', text)


def runs(server):
    return server.client("ada").get("/api/v2/dags/ivm_tpch/dagRuns").json()["dag_runs"]


@pytest.mark.parametrize("path", GETS)
def test_anonymous_requests_are_refused(server, path):
    client = server.client()
    assert client.get(path).status_code == 401
    assert client.get(path, headers={"Authorization": "Bearer x.y.z"}).status_code == 403
    sent = client.get(path, headers={"accept": "text/html"})
    assert sent.status_code == 303 and sent.headers["location"].startswith("/api/v2/auth/login?next=%2Fivm%2F")
    client.cookies.set("_token", "x.y.z")
    assert client.get(path).status_code in (401, 403)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_anonymous_writes_are_refused(server, method):
    client = server.client()
    for path in (f"/ivm/views/{VIEW}/runs", "/ivm/", f"/ivm/views/{VIEW}"):
        assert client.request(method, path, headers={"accept": "text/html"}).status_code == 401
    assert runs(server) == []


@pytest.mark.parametrize("name", PEOPLE)
def test_everybody_who_is_logged_in_reads(server, name):
    client = server.client(name)
    assert tuple(client.get(path).status_code for path in GETS) == STATUS
    assert VIEW in client.get("/ivm/").text


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_there_is_nothing_else_to_write(server, name, method):
    for path in ("/ivm/", f"/ivm/views/{VIEW}", f"/ivm/views/{VIEW}/runs"):
        assert server.client(name).request(method, path).status_code == 405


@pytest.mark.parametrize(("name", "role"), PEOPLE.items())
def test_a_role_starts_runs_or_only_looks(server, name, role):
    client = server.client(name)
    found = token_of(client.get(f"/ivm/views/{VIEW}").text)
    assert (found is not None) == MAY_START[role]
    known = len(runs(server))
    token = found[1] if found else token_of(server.client("uma").get(f"/ivm/views/{VIEW}").text)[1]
    form = {"action": "full", "token": token, "reason": f"asked by {name}"}
    answer = client.post(f"/ivm/views/{VIEW}/runs", data=form)
    if not MAY_START[role]:
        assert answer.status_code == 403 and len(runs(server)) == known
        return
    assert answer.status_code == 303
    newest = max(runs(server), key=lambda run: run["run_after"])
    assert len(runs(server)) == known + 1
    assert (newest["state"], newest["triggering_user_name"], newest["run_type"]) == ("queued", name, "manual")
    assert newest["conf"] == {"views": [VIEW], "mode": "full", "reason": f"asked by {name}"}
    assert newest["dag_run_id"] in client.get(answer.headers["location"]).text


def test_what_means_ill_does_nothing(server):
    client = server.client("ada")
    token = token_of(client.get(f"/ivm/views/{VIEW}").text)[1]
    known = runs(server)
    for view in ("x'; DROP TABLE ivm_views; --", "../../etc/passwd", "<script>", "tpch.orders", "%00", "{{7*7}}"):
        answer = client.post(f"/ivm/views/{view}/runs", data={"action": "refresh", "token": token})
        assert answer.status_code in (404, 405), view
    for action in ("drop", "", "full'--", "<b>"):
        assert client.post(f"/ivm/views/{VIEW}/runs", data={"action": action, "token": token}).status_code == 400
    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
        form = {"action": "refresh", "token": token}
        assert client.post(f"/ivm/views/{VIEW}/runs", data=form, headers=headers).status_code == 403
    assert client.post(f"/ivm/views/{VIEW}/runs", json={"action": "refresh", "token": token}).status_code == 403
    assert runs(server) == known
    assert VIEW in client.get("/ivm/").text


def test_airflow_lists_the_plugin_and_its_entry(server):
    client = server.client("ada")
    assert client.get("/api/v2/plugins/importErrors").json()["total_entries"] == 0
    [plugin] = [plugin for plugin in client.get("/api/v2/plugins").json()["plugins"] if plugin["name"] == "ivm"]
    assert plugin["external_views"][0]["href"] == "/ivm/"
