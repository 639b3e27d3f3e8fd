"""The page of views over a filled catalogue: who sees what, what it says, what a form may start. No Spark, no server."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ivm_airflow.slug import dag_id
from ivm_airflow.web.store import Store

from ivm_core.batch.clock import version_of
from ivm_core.plan.clock import CLOCK
from tests.catalog.records import done, view

from .page_deployment import add_many_views, add_odd_view, make_deployment
from .page_site import Site, make_site

VIEW = "tpch.q05_local_supplier_volume"
DAG = "ivm_tpch"
GETS = (
    "/",
    f"/views/{VIEW}",
    "/page.css",
    "/data-docs/index.html",
    "/reports/",
    "/reports/x.html",
    "/nothing",
    "/openapi.json",
    "/docs",
)
NASTY = ("'", '"', "';DROP TABLE ivm_views;--", "<script>alert(1)</script>", "../../etc/passwd", "{{7*7}}", "%00", "\x00", "${x}", "a\r\nX: y")  # fmt: skip


@pytest.fixture(scope="module")
def deployment(tmp_path_factory) -> Path:
    return make_deployment(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def store(deployment) -> Store:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("IVM_SETTINGS", str(deployment))
        return Store.open()


@pytest.fixture
def site(deployment, store, monkeypatch) -> Site:
    monkeypatch.setenv("IVM_SETTINGS", str(deployment))
    monkeypatch.delenv("IVM_MANIFEST", raising=False)
    site = make_site(lambda: store)
    site.known_dags.add(DAG)
    return site


def token_of(text: str) -> str:
    [found] = re.findall(r'name="token" value="([^"]+)"', text)
    return found


def press(client, action, view=VIEW, token=None, headers=None, **fields):
    token = token_of(client.get(f"/ivm/views/{VIEW}").text) if token is None else token
    form = {"action": action, "token": token, **fields}
    return client.post(f"/ivm/views/{view}/runs", data=form, headers=headers or {})


@pytest.mark.parametrize("path", GETS)
def test_nobody_sees_anything_without_a_login(site, path):
    answer = site.client().get(f"/ivm{path}")
    assert (answer.status_code, answer.text) == (401, "Log in to Airflow first.")


def test_a_browser_is_sent_to_the_login_and_comes_back(site):
    answer = site.client().get("/ivm/?q=a&page=2", headers={"accept": "text/html"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/api/v2/auth/login?next=%2Fivm%2F%3Fq%3Da%26page%3D2"


def test_nobody_starts_anything_without_a_login(site):
    answer = press(site.client(), "refresh", token=token_of(site.client("user").get(f"/ivm/views/{VIEW}").text))
    assert answer.status_code == 401 and site.triggered == []


def test_the_list_shows_every_view_with_what_is_known_of_it(site):
    text = site.client("viewer").get("/ivm/").text
    assert text.count('<td class="name">') == 12
    for shown in (
        "behind for",
        "1 version",
        "up to date",
        "✗ drifted",
        "✓ validated",
        "never",
        "measured",
        "incremental",
    ):
        assert shown in text, shown
    assert "weighted changes suffice" in text


@pytest.mark.parametrize(
    ("address", "first", "rows"),
    [
        ("?q=q0", "tpch.q01_pricing_summary", 7),
        ("?q=Q0&sort=name&order=desc", "tpch.q09_product_type_profit", 7),
        ("?group=tpch&size=50", "tpch.profit_by_year", 10),
        ("?group=other", None, 0),
        ("?group=nightly&sort=group&order=desc", "tpch.q19_discounted_revenue", 2),
        ("?sort=lag&order=desc&q=q0", "tpch.q09_product_type_profit", 7),
        ("?sort=validation", "tpch.q08_national_market_share", 12),
        ("?page=9999", "tpch.profit_by_year", 12),
        ("?page=-1&size=7&sort=nothing&order=up", "tpch.profit_by_year", 12),
    ],
)
def test_filter_order_and_page(site, address, first, rows):
    names = re.findall(
        r'<td class="name"><a href="/ivm/views/([^"]+)"', site.client("viewer").get(f"/ivm/{address}").text
    )
    assert len(names) == rows and (names[0] if names else None) == first


@pytest.mark.parametrize("sort", ["group", "lag", "age", "strategy", "seconds", "full", "validation"])
def test_every_order_keeps_all_views(site, sort):
    for order in ("asc", "desc"):
        text = site.client("viewer").get(f"/ivm/?sort={sort}&order={order}").text
        assert text.count('<td class="name">') == 12
        assert f'aria-sort="{order}ending"' in text


def test_a_view_s_page_shows_plan_sql_history_and_lineage(site):
    text = site.client("user").get(f"/ivm/views/{VIEW}").text
    for shown in (
        'aria-label="Plan of the view"',
        'aria-label="Delta plan of the view"',
        "<text x=",
        "Changes tpch.lineitem",
        "CREATE INCREMENTAL MATERIALIZED VIEW tpch.q05",
        "Generated SQL",
        "ExecutorLost: no executor is left",
        "full refresh",
        'name="action" value="validate"',
        "State table",
    ):
        assert shown in text, shown
    assert text.count("<svg") >= 4 and "<script" not in text and " style=" not in text


def test_lineage_leads_from_view_to_view(site):
    assert 'href="/ivm/views/tpch.q09_product_type_profit"><g class="box view">' in site.client("viewer").get(
        "/ivm/views/tpch.profit_by_year"
    ).text.replace("\n", "")
    upstream = site.client("viewer").get("/ivm/views/tpch.q09_product_type_profit").text
    assert 'href="/ivm/views/tpch.profit_by_year"><g class="box view">' in upstream


def test_the_headers_allow_no_script_and_nothing_from_elsewhere(site):
    for path in GETS:
        headers = site.client("viewer").get(f"/ivm{path}").headers
        assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'; ")
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")


@pytest.mark.parametrize(
    ("action", "conf"),
    [
        ("refresh", {"mode": "auto"}),
        ("validate", {"measure_full": True}),
        ("full", {"mode": "full"}),
    ],
)
def test_a_button_starts_a_run_in_the_visitor_s_name(site, action, conf):
    client = site.client("user")
    answer = press(client, action, reason=" prices <were> wrong ")
    assert answer.status_code == 303
    [(dag, body, authorization)] = site.triggered
    assert (dag, authorization) == (DAG, "Bearer user")
    assert body["conf"] == {"views": [VIEW], **conf, "reason": "prices <were> wrong"}
    assert body["logical_date"] is None and body["note"] == "prices <were> wrong"
    text = client.get(answer.headers["location"]).text
    assert "manual__0</a> is queued" in text and "The DAG is paused" in text


def test_a_viewer_is_shown_no_button_and_cannot_press_one(site):
    client = site.client("viewer")
    text = client.get(f"/ivm/views/{VIEW}").text
    assert "<button" not in text.split("Run now")[1] and "You may look at this view" in text
    stolen = token_of(site.client("user").get(f"/ivm/views/{VIEW}").text)
    for token in (stolen, ""):
        assert press(client, "full", token=token).status_code == 403
    assert site.triggered == []


def test_who_loses_the_permission_is_refused_with_the_form_still_open(site, monkeypatch):
    client = site.client("user")
    token = token_of(client.get(f"/ivm/views/{VIEW}").text)
    monkeypatch.setattr(site.staff, "may_trigger", lambda visitor, dag: False)
    answer = press(client, "full", token=token)
    assert answer.status_code == 403 and "You may not start runs of ivm_tpch" in answer.text
    assert site.triggered == []


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
    ids=str,
)
def test_a_form_on_another_site_starts_nothing(site, headers):
    assert press(site.client("user"), "refresh", headers=headers).status_code == 403
    assert site.triggered == []


@pytest.mark.parametrize("token", ["", "x", "WyJ1c2VyIl0.aa.bb"])
def test_a_form_without_its_token_starts_nothing(site, token):
    assert press(site.client("user"), "refresh", token=token).status_code == 403
    assert site.triggered == []


def test_another_visitor_s_token_starts_nothing(site):
    token = token_of(site.client("admin").get(f"/ivm/views/{VIEW}").text)
    assert press(site.client("user"), "refresh", token=token).status_code == 403


@pytest.mark.parametrize("view", ["tpch.none", "tpch.orders", "x' OR '1'='1", "..%2f..%2fetc", "<b>", "TPCH.Q05"])
def test_only_a_registered_view_can_be_refreshed(site, view):
    assert press(site.client("user"), "refresh", view=view).status_code == 404
    assert site.triggered == []


@pytest.mark.parametrize("action", ["", "drop", "full; rm -rf /", "__class__", *NASTY[:4]])
def test_there_are_no_other_buttons(site, action):
    assert press(site.client("user"), action).status_code == 400
    assert site.triggered == []


def test_a_reason_is_text_and_is_cut(site):
    press(site.client("user"), "refresh", reason="<script>" * 100)
    [(_, body, _)] = site.triggered
    assert len(body["conf"]["reason"]) == 500
    assert press(site.client("user"), "refresh", views="tpch.other", mode="full").status_code == 303
    assert site.triggered[1][1]["conf"] == {"views": [VIEW], "mode": "auto"}


def test_what_airflow_refuses_is_said(site):
    site.fails_with = (409, "Too <many> runs")
    answer = press(site.client("user"), "refresh")
    assert answer.status_code == 409 and "Too &lt;many&gt; runs" in answer.text


def test_a_group_without_a_dag_has_no_buttons(site):
    site.known_dags.clear()
    text = site.client("user").get(f"/ivm/views/{VIEW}").text
    assert "Airflow has no DAG" in text and "<button" not in text.split("Run now")[1]


@pytest.mark.parametrize("root", ["/airflow", "/api", "/ivm"])
def test_behind_a_proxy_every_address_begins_where_airflow_does(deployment, store, root):
    site = make_site(lambda: store, root)
    site.known_dags.add(DAG)
    client = site.client("user")
    listed = client.get(f"{root}/ivm/").text
    shown = client.get(f"{root}/ivm/views/{VIEW}").text
    for text in (listed, shown):
        addresses = re.findall(r'(?:href|action)="([^"#?]+)"', text)
        assert addresses and all(address.startswith((f"{root}/", "data:")) for address in addresses), addresses
    answer = client.post(f"{root}/ivm/views/{VIEW}/runs", data={"action": "refresh", "token": token_of(shown)})
    assert answer.headers["location"] == f"{root}/ivm/views/{VIEW}?run=manual__0#runs"
    assert "is queued" in client.get(answer.headers["location"]).text
    sent = site.client().get(f"{root}/ivm/", headers={"accept": "text/html"})
    assert sent.headers["location"].startswith(f"{root}/api/v2/auth/login?next={root.replace('/', '%2F')}%2Fivm%2F")


def test_an_address_cannot_claim_a_run(site):
    text = site.client("user").get(f"/ivm/views/{VIEW}?run=manual__evil").text
    assert "manual__evil" not in text


@pytest.mark.parametrize("nasty", NASTY)
@pytest.mark.parametrize("key", ["q", "group", "sort", "order", "page", "size", "run"])
def test_whatever_the_address_says_is_shown_escaped_or_not_at_all(site, key, nasty):
    for path in ("/ivm/", f"/ivm/views/{VIEW}"):
        answer = site.client("viewer").get(path, params={key: nasty})
        assert answer.status_code == 200
        assert "<script>" not in answer.text and "49" not in answer.text.split("<main")[0]
        assert "root:" not in answer.text


@pytest.fixture
def odd(tmp_path, monkeypatch) -> Site:
    """A deployment with a view that nobody may see, and one of names that mean ill."""
    settings = make_deployment(tmp_path / "odd", commits=2)
    add_odd_view(settings, "tpch.secret", group="secret", comment="hidden comment")
    add_odd_view(
        settings, NAME, group=GROUP, comment=NAME, sql=NAME, tables=("tpch.q05_local_supplier_volume", NAME + "2")
    )
    monkeypatch.setenv("IVM_SETTINGS", str(settings))
    site = make_site()
    site.staff.hidden.add(dag_id("secret"))
    site.known_dags |= {DAG, dag_id(GROUP)}
    return site


def test_a_view_of_the_current_time_is_not_called_up_to_date(odd):
    with Store.open().catalog as catalog:
        at = version_of(datetime.now(UTC) - timedelta(minutes=90))
        catalog.add_view(view("s.clocked", CLOCK, view_id="clocked", group="tpch"))
        catalog.add_batch(done("s.clocked", 1, to_versions={CLOCK: at}))
    text = odd.client("viewer").get("/ivm/?q=clocked").text
    assert "tables unchanged" in text and "its time is 1 h ago" in text and "up to date" not in text


NAME = "s.\"><img src=x onerror=alert(1)>'{{7*7}}"
GROUP = "</option><script>alert(2)</script>../'"


def test_a_hidden_group_is_nowhere(odd):
    client = odd.client("user")
    assert "secret" not in client.get("/ivm/").text
    assert client.get("/ivm/views/tpch.secret").status_code == 404
    assert press(client, "refresh", view="tpch.secret").status_code == 404
    assert odd.triggered == []


def test_names_that_mean_ill_are_only_text(odd):
    from urllib.parse import quote

    client = odd.client("user")
    listed = client.get("/ivm/").text
    shown = client.get(f"/ivm/views/{quote(NAME, safe='')}").text
    for text in (listed, shown, client.get(f"/ivm/views/{VIEW}").text):
        assert "<img" not in text and "<script" not in text and "s.&#34;&gt;&lt;img src=x" in text
    # Its definition is no statement: the page says so and shows the rest.
    assert "How it is maintained" in shown and "Delta plan" not in shown
    answer = press(client, "refresh", view=quote(NAME, safe=""))
    assert answer.status_code == 303 and odd.triggered[0][0] == dag_id(GROUP)
    assert odd.triggered[0][1]["conf"]["views"] == [NAME]


def test_without_a_deployment_the_page_says_what_is_wrong(tmp_path, monkeypatch):
    monkeypatch.setenv("IVM_SETTINGS", str(tmp_path / "none.toml"))
    answer = make_site().client("user").get("/ivm/")
    assert answer.status_code == 503 and "does not exist: correct the path" in answer.text


def seconds_of(client, address):
    started = time.perf_counter()
    assert client.get(f"/ivm/{address}").status_code == 200
    return time.perf_counter() - started


def test_five_hundred_views_in_under_a_second(tmp_path, monkeypatch):
    settings = make_deployment(tmp_path / "many", commits=3)
    add_many_views(settings, 500)
    monkeypatch.setenv("IVM_SETTINGS", str(settings))
    client = make_site().client("viewer")
    client.get("/ivm/")  # the first request imports and opens
    for address in ("?size=100", "?sort=seconds&order=desc&page=3", "?q=view_04&sort=age", "?sort=lag"):
        assert min(seconds_of(client, address) for _ in range(3)) < 1.0
    assert "Page 1 of 21" in client.get("/ivm/").text
