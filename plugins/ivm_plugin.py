"""Airflow's plugin: the page of views under ``/ivm/`` and its entry in Airflow's navigation.

Every Airflow process that loads plugins imports this: the page itself is built at the API server's first request for it.
"""

from airflow.configuration import conf
from airflow.plugins_manager import AirflowPlugin
from ivm_airflow.web.mount import PREFIX, PageApp, page_address


class IvmPlugin(AirflowPlugin):
    """The page as an app of the API server. Without ``url_route``: it opens as a page of its own, not in a frame."""

    name = "ivm"
    fastapi_apps = [{"app": PageApp(), "url_prefix": PREFIX, "name": "Incremental views"}]  # noqa: RUF012
    external_views = [  # noqa: RUF012
        {
            "name": "Incremental views",
            "href": page_address(conf.get("api", "base_url", fallback="")),
            "destination": "nav",
            "category": "browse",
        }
    ]
