"""As much of Airflow's REST API as `ivm trigger` needs: a token, one run, its progress and its result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ivm_core.errors import AirflowProblem

if TYPE_CHECKING:
    from ivm_core.settings import AirflowSettings

LOGIN = "/auth/token"
TIMEOUT_SECONDS = 30.0
DETAIL_LENGTH = 300
UNKNOWN, REFUSED = 404, (401, 403)


class _NoRedirects(HTTPRedirectHandler):
    """A redirect could carry the token to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class AirflowApi:
    """One Airflow. Every method raises AirflowProblem; no message holds a password or token."""

    def __init__(self, settings: AirflowSettings) -> None:
        self.url = settings.url.rstrip("/")
        self._settings = settings
        self._token: str | None = settings.token.get_secret_value() if settings.token else None
        self._opener = build_opener(_NoRedirects)

    def dag(self, dag_id: str) -> dict[str, Any]:
        """What Airflow knows of the DAG."""
        return dict(self._call("GET", f"dags/{quote(dag_id, safe='')}", missing=_no_dag(dag_id)))

    def trigger(self, dag_id: str, run_id: str, conf: Mapping[str, Any], note: str | None = None) -> dict[str, Any]:
        """Start one run of the DAG, now."""
        body = {"dag_run_id": run_id, "logical_date": None, "conf": dict(conf), "note": note}
        return dict(self._call("POST", f"dags/{quote(dag_id, safe='')}/dagRuns", body, missing=_no_dag(dag_id)))

    def run(self, dag_id: str, run_id: str) -> dict[str, Any]:
        """The run as it stands: its ``state`` is queued, running, success or failed."""
        return dict(self._call("GET", _run(dag_id, run_id), missing=f"The run {run_id} is gone"))

    def task_states(self, dag_id: str, run_id: str) -> dict[str, str]:
        """The state of each task of the run that has one."""
        answer = self._call("GET", f"{_run(dag_id, run_id)}/taskInstances", missing=f"The run {run_id} is gone")
        return {str(task["task_id"]): str(task["state"]) for task in answer["task_instances"] if task["state"]}

    def result(self, dag_id: str, run_id: str, task_id: str) -> dict[str, Any] | None:
        """What the task returned, None where it returned nothing that can be read."""
        path = (
            f"{_run(dag_id, run_id)}/taskInstances/{quote(task_id, safe='')}/xcomEntries/return_value?deserialize=true"
        )
        try:
            value = self._call("GET", path, missing="nothing was returned")["value"]
            value = json.loads(value) if isinstance(value, str) else value
        except (AirflowProblem, KeyError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, missing: str) -> Any:
        if self._token is None:
            self._token = self._new_token()
        headers = {"Authorization": f"Bearer {self._token}"}
        return self._send(method, f"{self.url}/api/v2/{path}", body, headers, missing)

    def _new_token(self) -> str:
        name, password = self._settings.username, self._settings.password
        address, missing = f"{self.url}{LOGIN}", f"{self.url} gives no tokens. Set airflow.token"
        if name is None or password is None:
            # Where all users are administrators, a token is given away.
            answer = self._send("GET", address, None, {}, missing)
        else:
            body = {"username": name, "password": password.get_secret_value()}
            answer = self._send("POST", address, body, {}, missing)
        return str(answer["access_token"])

    def _send(
        self, method: str, address: str, body: Mapping[str, Any] | None, headers: Mapping[str, str], missing: str
    ) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(address, data, {"Content-Type": "application/json", **headers}, method=method)
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
                return json.load(answer)
        except HTTPError as error:
            # What is said of a login may repeat the password, as validators do with a body that they do not like.
            self._refused(error, missing, str(error.reason) if address.endswith(LOGIN) else _detail(error))
        except (URLError, TimeoutError, ConnectionError, ValueError) as error:
            reason = getattr(error, "reason", None) or type(error).__name__
            raise AirflowProblem(
                f"Airflow at {self.url} does not answer ({reason}). Set airflow.url or IVM_AIRFLOW__URL, or start it."
            ) from None

    def _refused(self, error: HTTPError, missing: str, detail: str) -> NoReturn:
        if error.code in REFUSED:
            raise AirflowProblem(
                f"Airflow at {self.url} refuses the login or the right to do this ({error.code}). Set airflow.username and "
                "IVM_AIRFLOW__PASSWORD, or IVM_AIRFLOW__TOKEN, of a user who may trigger the DAG."
            ) from None
        if error.code == UNKNOWN:
            raise AirflowProblem(f"{missing}.") from None
        raise AirflowProblem(f"Airflow answered {error.code}: {detail}.") from None


def _no_dag(dag_id: str) -> str:
    return f"Airflow has no DAG {dag_id}. Run `ivm apply`, and see whether the DAG processor runs"


def _run(dag_id: str, run_id: str) -> str:
    return f"dags/{quote(dag_id, safe='')}/dagRuns/{quote(run_id, safe='')}"


def _detail(error: HTTPError) -> str:
    """Airflow's own words, shortened; what it says of a request repeats its parameters, never its headers."""
    try:
        detail = json.loads(error.read())["detail"]
    except (ValueError, KeyError, TypeError, OSError):
        return str(error.reason)
    return " ".join(str(detail).split())[:DETAIL_LENGTH]
