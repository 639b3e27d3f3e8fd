"""A real browser for tests: Chromium without a window, Airflow's login, pictures where they are asked for.

``IVM_TEST_SCREENSHOTS=docs/images`` keeps pictures there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
needs_chromium = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason=f"no Chromium at {CHROMIUM} (apt-get install chromium)"
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (uv sync --group dev)")
    with sync_api.sync_playwright() as playwright:
        # Without its sandbox it also runs as root, as in containers; it sees nothing but this test's server.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def log_in(tab: Any, url: str, name: str, password: str, path: str) -> None:
    """Ask for a page, be sent to Airflow's login, and come back."""
    tab.goto(url + path)
    tab.locator("input[name=username]").fill(name)
    tab.locator("input[name=password]").fill(password)
    tab.locator("button[type=submit]").click()
    tab.wait_for_url(url + path)


def keep_picture(tab: Any, name: str, height: int | None = None) -> None:
    """A picture of what the tab shows, or of its upper part, if pictures are asked for."""
    folder = os.environ.get("IVM_TEST_SCREENSHOTS")
    if folder:
        size = {**tab.viewport_size, "height": height or tab.viewport_size["height"]}
        tab.screenshot(path=Path(folder) / name, clip={"x": 0, "y": 0, **size})
