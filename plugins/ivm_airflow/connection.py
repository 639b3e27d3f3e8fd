"""The Spark that a deployment's tasks run on: the provider's connection over the settings file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ivm_airflow.failures import Permanent

if TYPE_CHECKING:
    from ivm_core.settings import Settings

CONNECTION = "spark_default"
SPARK_PREFIX = "spark."


def connection_id() -> str:
    """``[ivm] spark_conn_id`` of Airflow's configuration, ``spark_default`` where it says nothing."""
    from airflow.sdk.configuration import conf

    return conf.get("ivm", "spark_conn_id", fallback=CONNECTION) or CONNECTION


def with_connection(settings: Settings) -> Settings:
    """The settings with master and Spark configuration from the connection; unchanged where there is no connection."""
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException

    try:
        connection = BaseHook.get_connection(connection_id())
    except AirflowNotFoundException:
        spark = settings.spark
    else:
        conf = {**settings.spark.conf, **spark_conf(connection)}
        spark = settings.spark.model_copy(update={"master": master_of(connection), "conf": conf})
    hide_secrets(spark.conf)
    return settings.model_copy(update={"spark": spark})


def hide_secrets(conf: Mapping[str, str]) -> None:
    """Let no log of this task show values whose names suggest secrets, as the key of a storage account.

    Spark's provider logs the command that it starts, and hides only what has ``secret`` or ``password`` in its name.
    """
    from airflow.sdk.log import mask_secret

    from ivm_core.settings import SECRET_NAME

    for key, value in conf.items():
        if SECRET_NAME.search(key):
            mask_secret(value)


def master_of(connection: Any) -> str:
    """``local[*]``, ``spark://host:7077``, ``yarn``, ``k8s://…``, or ``sc://host:15002``. Raises Permanent."""
    if connection.conn_type == "spark_connect":
        from airflow.providers.apache.spark.hooks.spark_connect import SparkConnectHook

        return SparkConnectHook(connection.conn_id).get_connection_url()
    if connection.conn_type != "spark":
        raise Permanent(
            f"The connection {connection.conn_id} is of type {connection.conn_type!r}. "
            "Make it `spark` (local[*], spark://host:7077) or `spark_connect` (sc://host:15002)."
        )
    host = connection.host or ""
    if connection.port:
        return f"{host if '://' in host else 'spark://' + host}:{connection.port}"
    master = host or "local[*]"
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise Permanent(
            f"The connection {connection.conn_id} says `yarn`, as Airflow's sample connections do, and HADOOP_CONF_DIR "
            "is not set. For Spark inside the task: "
            """AIRFLOW_CONN_SPARK_DEFAULT='{"conn_type": "spark", "host": "local[*]"}'."""
        )
    return master


def spark_conf(connection: Any) -> dict[str, str]:
    """The ``spark.*`` entries of the connection's extra field."""
    extra: dict[str, Any] = connection.extra_dejson
    return {key: _text(value) for key, value in sorted(extra.items()) if key.startswith(SPARK_PREFIX)}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
