"""The page in a real browser: Airflow's login, the list, a view, a button pressed, a run queued; without a mouse too.

``IVM_TEST_SCREENSHOTS=docs/images`` keeps pictures of the list and of a view's page there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ivm_core.engine.quality import docs_site

from . import browser
from .browser import keep_picture, needs_chromium
from .page_deployment import make_deployment
from .page_reports import add_reports, write_run
from .page_server import Server, serve

pytestmark = [pytest.mark.airflow, pytest.mark.slow, needs_chromium]

VIEW = "tpch.q03_shipping_priority"
# What Data Docs could try: it says what it got.
PROBE = """<h1>Docs</h1><a href="next.html">next</a><p id="ran"></p><p id="cookie"></p><p id="asked"></p><script>
const say = (id, text) => { document.getElementById(id).textContent = text; };
say("ran", "yes");
try { say("cookie", document.cookie || "empty"); } catch (error) { say("cookie", error.name); }
fetch("/api/v2/dags").then(() => say("asked", "answered"), () => say("asked", "blocked"));
</script>"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("browser")
    settings = make_deployment(folder / "deployment")
    add_reports(settings.parent / "reports", 9)
    write_run(settings.parent / "reports", "manual__wrong", "tpch", VIEW, seconds=4.0, error="a table is gone")
    docs = docs_site(settings.parent / "reports" / "quality")
    docs.mkdir(parents=True)
    (docs / "index.html").write_text(PROBE, "utf-8")
    (docs / "next.html").write_text("<h1>Next</h1>", "utf-8")
    with serve(folder / "airflow", settings) as running:
        yield running


@pytest.fixture
def tab(chromium) -> Iterator[Any]:
    """A fresh profile with one tab; whatever the console complains of in the page itself fails the test."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda entry: complaints.append(entry.text) if "/ivm/" in entry.location["url"] else None)
    yield page
    context.close()
    assert complaints == []


def log_in(tab: Any, server: Server, name: str, path: str) -> None:
    browser.log_in(tab, server.url, name, server.passwords[name], path)


def test_from_the_login_to_a_queued_run(tab, server):
    log_in(tab, server, "uma", "/ivm/")
    assert tab.locator("tbody tr").count() == 12
    keep_picture(tab, "page-list.png")
    tab.get_by_label("Name contains").fill("Q03")
    tab.keyboard.press("Enter")
    tab.get_by_role("link", name=VIEW).click()
    tab.wait_for_url(f"{server.url}/ivm/views/{VIEW}")
    assert tab.get_by_role("img", name="Delta plan of the view").is_visible()
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
    tab.set_viewport_size({"width": 1400, "height": 1900})
    keep_picture(tab, "page-view.png")
    tab.get_by_label("Reason, for the run’s report").fill("prices were wrong")
    tab.get_by_role("button", name="Refresh", exact=True).click()
    tab.wait_for_url("**?run=manual__*")
    assert "is queued" in tab.get_by_role("status").inner_text()
    [run] = server.client("ada").get("/api/v2/dags/ivm_tpch/dagRuns").json()["dag_runs"]
    assert run["conf"] == {"views": [VIEW], "mode": "auto", "reason": "prices were wrong"}
    assert (run["state"], run["triggering_user_name"], run["note"]) == ("queued", "uma", "prices were wrong")
    tab.get_by_role("status").get_by_role("link").click()
    tab.wait_for_url("**/dags/ivm_tpch/runs/manual__*")
    # Airflow's own page finds the run by the link.
    tab.get_by_text("Queued").first.wait_for()


def test_a_viewer_finds_no_button(tab, server):
    log_in(tab, server, "vera", f"/ivm/views/{VIEW}")
    assert tab.get_by_role("button").count() == 0
    assert tab.get_by_text("You may look at this view, but not start runs of ivm_tpch").is_visible()


def test_airflow_s_menu_leads_to_the_page(tab, server):
    log_in(tab, server, "vera", "/ivm/")
    tab.goto(server.url + "/")
    tab.get_by_text("Browse", exact=True).first.click()
    with tab.context.expect_page() as opened:
        tab.get_by_text("Incremental views").click()
    opened.value.wait_for_url(f"{server.url}/ivm/")


def test_keys_alone_lead_from_the_list_to_a_view(tab, server):
    log_in(tab, server, "vera", "/ivm/?q=q03")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(40):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.textContent") == VIEW:
            break
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"{server.url}/ivm/views/{VIEW}")


def test_nothing_needs_scripts_or_a_wide_screen(chromium, server):
    context = chromium.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    token = server.client("vera").cookies["_token"]
    context.add_cookies([{"name": "_token", "value": token, "url": server.url}])
    page = context.new_page()
    page.goto(f"{server.url}/ivm/?q=q0&sort=seconds")
    assert page.locator("tbody tr").count() == 7
    page.goto(f"{server.url}/ivm/views/{VIEW}")
    assert page.get_by_role("heading", name="How it is maintained").is_visible()
    # Wide tables and pictures scroll in their own boxes: the page itself does not move sideways.
    assert page.locator("main").bounding_box()["width"] <= 390
    context.close()


def test_reports_of_runs_and_their_trend(tab, server):
    log_in(tab, server, "vera", "/ivm/reports/?group=tpch")
    assert tab.locator("svg.chart").count() == 2 and tab.locator("tbody tr").count() == 10
    keep_picture(tab, "page-reports.png")
    tab.get_by_role("link", name="scheduled__9", exact=True).click()
    tab.wait_for_url("**/ivm/reports/ivm_tpch-scheduled__9*.html")
    assert "up to date" in tab.get_by_role("heading").inner_text()
    # Its bars have widths: a style of its own is let through.
    assert tab.locator(".bar").first.bounding_box()["width"] > 10


def test_scripts_of_data_docs_have_nothing_of_the_visitor(chromium, server):
    context = chromium.new_context()
    page = context.new_page()
    log_in(page, server, "vera", "/ivm/data-docs/index.html")
    page.locator("#asked").get_by_text("blocked").wait_for()
    assert page.locator("#ran").inner_text() == "yes"
    assert page.locator("#cookie").inner_text() == "SecurityError"
    page.get_by_role("link", name="next").click()
    page.wait_for_url(f"{server.url}/ivm/data-docs/next.html")
    assert page.get_by_role("heading").inner_text() == "Next"
    context.close()
