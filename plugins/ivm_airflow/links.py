"""Where a run's tasks lead to on the page: its report and the Data Docs, as buttons of the task in Airflow."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseOperatorLink

from ivm_airflow.slug import report_name
from ivm_airflow.web.mount import page_address


class ReportLink(BaseOperatorLink):
    """The report of the task's run."""

    name = "Report"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        return f"{_page()}reports/{report_name(ti_key.dag_id, ti_key.run_id)}.html"


class DataDocsLink(BaseOperatorLink):
    """The Data Docs of all validations."""

    name = "Data Docs"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        return f"{_page()}data-docs/index.html"


def _page() -> str:
    from airflow.sdk.configuration import conf

    return page_address(conf.get("api", "base_url", fallback=""))
