"""The page with the auth manager of the containers, FAB: its roles see and start what Airflow's permissions say."""

from __future__ import annotations

import re
from importlib.metadata import distributions

import pytest

from .page_deployment import make_deployment
from .page_server import serve

# Asked of the metadata: looking the module up would import Airflow, which makes itself a home.
INSTALLED = any(found.name == "apache-airflow-providers-fab" for found in distributions())
pytestmark = [
    pytest.mark.airflow,
    pytest.mark.slow,
    pytest.mark.skipif(
        not INSTALLED,
        reason="the FAB provider is not installed (uv sync --extra airflow --group compose)",
    ),
]
VIEW = "/ivm/views/tpch.q05_local_supplier_volume"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fab")
    with serve(folder / "airflow", make_deployment(folder / "deployment"), fab=True) as running:
        yield running


@pytest.mark.parametrize(
    ("name", "views", "status", "starts"),
    [("pat", 0, 404, False), ("vera", 12, 200, False), ("uma", 12, 200, True), ("ada", 12, 200, True)],
)
def test_a_role_sees_and_starts_what_it_may(server, name, views, status, starts):
    client = server.client(name)
    assert client.get("/ivm/").text.count('<td class="name">') == views
    page = client.get(VIEW)
    token = re.search(r'name="token" value="([^"]+)"', page.text)
    assert (page.status_code, token is not None) == (status, starts)
    if token is None:
        token = re.search(r'name="token" value="([^"]+)"', server.client("uma").get(VIEW).text)
    answer = client.post(f"{VIEW}/runs", data={"action": "refresh", "token": token[1]})
    assert answer.status_code == (303 if starts else 403)
    if starts:
        assert "is queued" in client.get(answer.headers["location"]).text


def test_anonymous_requests_are_refused(server):
    for path in ("/ivm/", VIEW, "/ivm/page.css", "/ivm/nothing"):
        assert server.client().get(path).status_code == 401
