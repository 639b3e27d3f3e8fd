"""The routes of what runs leave behind: their reports and the Data Docs, each under a policy of its own."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool

from ivm_airflow.web import visits
from ivm_airflow.web.answers import guarded, not_found, page
from ivm_airflow.web.draw_trend import draw_trends
from ivm_airflow.web.run_reports import newest_reports, report_file

# A report is one page with its style in it, and nothing else.
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
# Data Docs are made by another program, from rows of views; their tables are drawn by scripts from these places. In the
# sandbox they have an origin of their own: no cookie, no storage, nothing of Airflow or of the page is in their reach.
DOCS_SCRIPTS = (
    "https://cdn.jsdelivr.net https://cdnjs.cloudflare.com https://code.jquery.com https://stackpath.bootstrapcdn.com "
    "https://unpkg.com"
)
DOCS_STYLES = "https://cdn.jsdelivr.net https://cdnjs.cloudflare.com https://maxcdn.bootstrapcdn.com https://unpkg.com"
DOCS_PLAIN = (
    "sandbox; default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
DOCS_SCRIPTED = (
    f"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' {DOCS_SCRIPTS}; "
    f"style-src 'self' 'unsafe-inline' {DOCS_STYLES}; font-src 'self' https://cdnjs.cloudflare.com; "
    "img-src 'self' data: https://great-expectations-web-assets.s3.us-east-2.amazonaws.com; "
    "connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def add_documents(app: FastAPI, all_visits: visits.Visits, docs_scripts: bool) -> None:
    """Add the routes ``/reports/``, ``/reports/<report>.html``, ``….json`` and ``/data-docs/…``.

    ``docs_scripts``: Data Docs may run their scripts.
    """
    docs_policy = DOCS_SCRIPTED if docs_scripts else DOCS_PLAIN

    @app.get("/reports/")
    async def list_reports(request: Request, group: str = "") -> Response:
        def answer() -> Response:
            visit = all_visits.begin(request.state.visitor)
            found = newest_reports(visit.readable, group)
            docs = visit.sees_all and visits.docs_folder() is not None
            groups = sorted(visit.readable)
            return page(
                request, "reports.html", reports=found, trends=draw_trends(found), groups=groups, group=group, docs=docs
            )

        return await run_in_threadpool(guarded, request, answer)

    @app.get("/reports/{name}")
    async def show_report(request: Request, name: str) -> Response:
        def answer() -> Response:
            file = report_file(name, all_visits.begin(request.state.visitor).readable)
            if file is None:
                return not_found(request)
            return FileResponse(file, headers={"Content-Security-Policy": REPORT_POLICY})

        return await run_in_threadpool(guarded, request, answer)

    @app.get("/data-docs/{path:path}")
    async def data_docs(request: Request, path: str) -> Response:
        def answer() -> Response:
            # They show rows of views of all groups.
            file = visits.docs_file(path) if all_visits.begin(request.state.visitor).sees_all else None
            if file is None:
                return not_found(request)
            return FileResponse(file, headers={"Content-Security-Policy": docs_policy})

        return await run_in_threadpool(guarded, request, answer)
