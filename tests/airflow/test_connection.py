"""Where a task's Spark runs, by Airflow's connection."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from ivm_airflow.connection import master_of, spark_conf
from ivm_airflow.deployment import opened_engine
from ivm_airflow.failures import Permanent

from .conftest import ROOT, airflow_environment


def connection(host=None, port=None, conn_type="spark", **extra):
    return SimpleNamespace(conn_id="spark_default", conn_type=conn_type, host=host, port=port, extra_dejson=extra)


@pytest.mark.parametrize(
    ("given", "master"),
    [
        (connection(), "local[*]"),
        (connection("local[2]"), "local[2]"),
        (connection("spark://master", 7077), "spark://master:7077"),
        (connection("spark://master:7077"), "spark://master:7077"),
        (connection("master", 7077), "spark://master:7077"),
        (connection("k8s://https://cluster", 6443), "k8s://https://cluster:6443"),
    ],
)
def test_master(given, master):
    assert master_of(given) == master


def test_yarn_needs_its_configuration(monkeypatch):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(Permanent, match="AIRFLOW_CONN_SPARK_DEFAULT"):
        master_of(connection("yarn", queue="root.default"))
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    assert master_of(connection("yarn")) == "yarn"


def test_another_type_is_refused():
    with pytest.raises(Permanent, match="spark_connect"):
        master_of(connection("db", conn_type="postgres"))


def test_configuration_comes_from_the_extra_field():
    given = connection(**{"spark.driver.memory": "4g", "spark.ui.enabled": False, "spark.cores.max": 2, "queue": "x"})
    assert spark_conf(given) == {"spark.driver.memory": "4g", "spark.ui.enabled": "false", "spark.cores.max": "2"}


def test_no_log_shows_a_key_of_the_configuration(tmp_path):
    """The provider logs spark-submit's command, and itself hides only what is called a password or a secret."""
    program = """
from airflow.sdk.log import redact
from ivm_airflow.connection import hide_secrets
hide_secrets({"spark.hadoop.fs.azure.account.key.store": "Zm9vYmFyYmF6", "spark.driver.memory": "4096m"})
print(redact("--conf spark.hadoop.fs.azure.account.key.store=Zm9vYmFyYmF6 --conf spark.driver.memory=4096m"))
"""
    environment = airflow_environment(tmp_path) | {"PYTHONPATH": str(ROOT / "plugins")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("account.key.store=*** --conf spark.driver.memory=4096m")


def test_an_engine_knows_its_spark_before_it_opens_it(tmp_path, monkeypatch):
    """How many views go at once, and the time zone, are asked without a session."""
    (tmp_path / "ivm.toml").write_text(f'catalog = "sqlite:///{tmp_path}/ivm.db"\n', "utf-8")
    monkeypatch.setenv("IVM_SETTINGS", str(tmp_path / "ivm.toml"))

    def placed(settings):
        return settings.model_copy(update={"spark": settings.spark.model_copy(update={"master": "sc://host:15002"})})

    def wrong(settings):
        raise Permanent("of type 'postgres'")

    with opened_engine(placed) as engine:
        assert engine.settings.spark.master == "sc://host:15002"
    with opened_engine(wrong) as engine:  # who needs no Spark goes on
        assert engine.settings.spark.master == "local[*]"
