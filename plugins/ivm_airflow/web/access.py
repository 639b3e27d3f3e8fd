"""Who asks, and which groups they may see and run: Airflow's authentication and its permissions on the groups' DAGs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

TOKEN_SECONDS = 60  # for the questions that one request of the page puts to Airflow


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is logged in; ``user`` is the auth manager's own object."""

    id: str
    name: str
    user: Any


class Refused(Exception):
    """Nobody is logged in (401), or what they showed is not valid (403)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Access(Protocol):
    """What the page needs of an auth manager."""

    async def visitor(self, request: Any) -> Visitor:
        """Who asks. Raises Refused."""

    def readable(self, visitor: Visitor, dag_ids: Collection[str]) -> frozenset[str]:
        """Those of the DAGs that the visitor may see."""

    def may_trigger(self, visitor: Visitor, dag_id: str) -> bool:
        """Whether the visitor may start a run of the DAG."""

    def token(self, visitor: Visitor) -> str:
        """A short-lived token for Airflow's API in the visitor's name."""


class AirflowAccess:
    """The auth manager that this Airflow is configured with."""

    async def visitor(self, request: Any) -> Visitor:
        from airflow.api_fastapi.core_api.security import bearer_scheme, get_user
        from fastapi import HTTPException

        try:
            user = await get_user(request, None, await bearer_scheme(request))
        except HTTPException as error:
            raise Refused(error.status_code) from error
        return Visitor(str(user.get_id()), str(user.get_name()), user)

    def readable(self, visitor: Visitor, dag_ids: Collection[str]) -> frozenset[str]:
        return frozenset(
            dag_id for dag_id, team in _teams(dag_ids).items() if _allowed("GET", visitor, dag_id, team, None)
        )

    def may_trigger(self, visitor: Visitor, dag_id: str) -> bool:
        from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity

        return _allowed("POST", visitor, dag_id, _teams([dag_id])[dag_id], DagAccessEntity.RUN)

    def token(self, visitor: Visitor) -> str:
        from airflow.api_fastapi.app import get_auth_manager

        return get_auth_manager().generate_jwt(visitor.user, expiration_time_in_seconds=TOKEN_SECONDS)


def _allowed(method: Any, visitor: Visitor, dag_id: str, team: str | None, entity: Any) -> bool:
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails

    details = DagDetails(id=dag_id, team_name=team)
    return get_auth_manager().is_authorized_dag(method=method, access_entity=entity, details=details, user=visitor.user)


def _teams(dag_ids: Collection[str]) -> dict[str, str | None]:
    from airflow.models.dag import DagModel

    known = DagModel.get_dag_id_to_team_name_mapping(sorted(dag_ids))
    return {dag_id: known.get(dag_id) for dag_id in sorted(dag_ids)}
