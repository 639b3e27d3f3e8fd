"""The routes of the page. Who asks has passed ``gate`` already; what they may see and do is asked here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import FastAPI, Form, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ivm_airflow.slug import dag_id
from ivm_airflow.web import visits
from ivm_airflow.web.access import Access
from ivm_airflow.web.actions import ACTIONS, run_conf
from ivm_airflow.web.airflow_api import TriggerFailed, find_dag, trigger
from ivm_airflow.web.answers import guarded, message, not_found, page
from ivm_airflow.web.detail import view_page
from ivm_airflow.web.documents import add_documents
from ivm_airflow.web.gate import form_token, gate, is_own_form
from ivm_airflow.web.overview import SIZES, list_page, read_query
from ivm_airflow.web.render import style
from ivm_airflow.web.run_reports import reported
from ivm_airflow.web.store import Store


def build_app(open_store: Callable[[], Store], access: Access, docs_scripts: bool = True) -> FastAPI:
    """The application, over the store that ``open_store`` gives at the first visit.

    ``docs_scripts``: Data Docs may run their scripts, in a sandbox.
    """
    # No description of an API: it would be one more thing to guard, and there is no API.
    app = FastAPI(title="Incremental views", docs_url=None, redoc_url=None, openapi_url=None)
    app.middleware("http")(gate(access))
    all_visits = visits.Visits(open_store, access)

    @app.exception_handler(HTTPException)
    async def explain_refusal(request: Request, error: HTTPException) -> Response:
        return not_found(request) if error.status_code == 404 else message(request, error.status_code, error.detail)

    @app.get("/")
    async def list_views(request: Request) -> Response:
        def answer() -> Response:
            visit = all_visits.begin(request.state.visitor)
            store, locations = visit.store, visit.store.locations()
            found = list_page(
                visit.views,
                visit.readable,
                read_query(request.query_params),
                lambda row: store.lags.of(row.versions, locations),
                lambda row: store.lags.behind(row.versions, locations),
            )
            docs = visit.sees_all and visits.docs_folder() is not None
            alarm = store.settings.retention_alarm
            return page(request, "views.html", page=found, sizes=SIZES, alarm=alarm, docs=docs)

        return await run_in_threadpool(guarded, request, answer)

    @app.get("/views/{name}")
    async def show_view(request: Request, name: str) -> Response:
        def answer() -> Response | dict[str, Any]:
            visit = all_visits.begin(request.state.visitor)
            found = view_page(visit.store, name, visit.views, visit.readable)
            if found is None:
                return not_found(request)
            may = access.may_trigger(request.state.visitor, dag_id(found.view.group))
            return {"page": found, "may_trigger": may, "alarm": visit.store.settings.retention_alarm}

        found = await run_in_threadpool(guarded, request, answer)
        if isinstance(found, Response):
            return found
        group = found["page"].view.group
        dag = await find_dag(request, access, dag_id(group))
        # Only a run that there is: an address cannot make the page say anything else.
        started = next((run for run in dag.runs if run.id == request.query_params.get("run")), None)
        more = {"started": started, "actions": ACTIONS, "token": form_token(request)}
        return page(
            request, "view.html", **found, **more, dag=dag, reports=reported(group, (run.id for run in dag.runs))
        )

    @app.post("/views/{name}/runs")
    async def start_run(
        request: Request,
        name: str,
        action: Annotated[str, Form()] = "",
        token: Annotated[str, Form()] = "",
        reason: Annotated[str, Form()] = "",
    ) -> Response:
        if not is_own_form(request, token):
            return message(request, 403, "This form is not from this page, or it is too old. Load the page again.")
        if action not in ACTIONS:
            return message(request, 400, "There is no such button.")

        def check() -> Response | tuple[str, dict[str, Any]]:
            visit = all_visits.begin(request.state.visitor)
            group = visit.group_of(name)
            if group is None:
                return not_found(request)
            if not access.may_trigger(request.state.visitor, dag_id(group)):
                return message(request, 403, f"You may not start runs of {dag_id(group)}.")
            return dag_id(group), run_conf(action, name, reason, visit.members(group))

        asked = await run_in_threadpool(guarded, request, check)
        if isinstance(asked, Response):
            return asked
        dag, conf = asked
        try:
            run = await trigger(request, access, dag, conf, conf.get("reason", ""))
        except TriggerFailed as error:
            return message(request, error.status, error.detail)
        here = f"{request.scope.get('root_path', '')}/views/{quote(name, safe='')}"
        return RedirectResponse(f"{here}?{urlencode({'run': run})}#runs", 303)

    @app.get("/page.css")
    async def style_sheet() -> Response:
        return Response(style(), media_type="text/css")

    add_documents(app, all_visits, docs_scripts)
    return app
