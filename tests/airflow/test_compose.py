"""The containers' file: pinned, healthy, without a password of its own, and in step with the scripts that it starts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from .conftest import ROOT

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
SECRET = re.compile(r"PASSWORD|SECRET|KEY|TOKEN")
ONE_SHOT = {"airflow-init", "ivm"}


@pytest.fixture(scope="module")
def specification() -> Draft202012Validator:
    """The JSON schema of the Compose specification, as check-jsonschema carries it; the package itself is not needed."""
    package = find_spec("check_jsonschema")
    if package is None or package.origin is None:
        pytest.skip("check-jsonschema is not installed (uv sync --group dev)")
    file = Path(package.origin).parent / "builtin_schemas" / "vendor" / "compose-spec.json"
    schema = json.loads(file.read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_file_meets_the_compose_specification(specification):
    assert problems(specification, COMPOSE) == []


@pytest.mark.parametrize(
    ("service", "change", "complaint"),
    [
        ("postgres", {"helthcheck": {}}, "'helthcheck' was unexpected"),
        ("airflow-api-server", {"ports": "8080:8080"}, "is not of type 'array'"),
        ("spark-connect", {"depends_on": {"postgres": {"condition": "service_ready"}}}, "service_ready"),
    ],
)
def test_the_specification_finds_mistakes(specification, service, change, complaint):
    wrong = {**COMPOSE, "services": {**SERVICES, service: {**SERVICES[service], **change}}}
    assert any(complaint in problem for problem in problems(specification, wrong))


def test_the_overrides_that_are_documented_meet_it_too(specification):
    text = (ROOT / "docs" / "operating.md").read_text("utf-8")
    examples = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]
    assert examples and all("services" in example for example in examples)
    for example in examples:
        assert problems(specification, example) == [] and set(example["services"]) <= set(SERVICES)


def problems(specification: Draft202012Validator, document: dict) -> list[str]:
    """What is wrong with a file, with the innermost complaints of its alternatives."""
    found = []
    pending = list(specification.iter_errors(document))
    while pending:
        error = pending.pop()
        found.append(f"{'/'.join(map(str, error.absolute_path))}: {error.message}")
        pending += error.context or ()
    return found


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_pinned_healthy_and_knows_its_neighbours(name):
    service = SERVICES[name]
    tag = service["image"].rpartition(":")[2]
    assert re.match(r"\d+\.\d+", tag), service["image"]
    assert name in ONE_SHOT or "test" in service["healthcheck"]
    assert set(service.get("depends_on", {})) <= set(SERVICES)
    assert set(service["networks"]) <= set(COMPOSE["networks"])
    mounted = {volume.partition(":")[0] for volume in service.get("volumes", ())}
    assert all(source.startswith("./") or source in COMPOSE["volumes"] for source in mounted)


@pytest.mark.parametrize("name", SERVICES)
def test_every_secret_is_given_from_outside(name):
    for key, value in SERVICES[name].get("environment", {}).items():
        if SECRET.search(key):
            assert re.fullmatch(r"\$\{[A-Z_]+:\?\}", value), f"{name}: {key}"
        else:
            assert not SECRET.search(value), f"{name}: {key}"


def test_the_secrets_that_are_made_are_those_that_are_asked_for():
    asked = set(re.findall(r"\$\{([A-Z_]+):\?\}", (ROOT / "docker-compose.yaml").read_text("utf-8")))
    made = subprocess.run(
        ["python3", str(ROOT / "docker" / "make_secrets.py")], capture_output=True, text=True, check=True
    ).stdout
    assert {line.partition("=")[0] for line in made.splitlines()} == asked


def test_the_image_s_base_and_installer_are_pinned():
    text = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
    assert re.search(r"^FROM python:3\.\d+\.\d+-slim-\w+$", text, re.MULTILINE)
    assert "uv sync --frozen" in text and ":latest" not in text
    [here] = re.findall(r"uv==([\d.]+)", text)
    assert f"uv=={here}" in (ROOT / "scripts" / "setup.sh").read_text("utf-8")


def test_the_settings_of_the_containers_are_valid():
    from ivm_core.settings import Settings

    settings = Settings.load(ROOT / "docker" / "ivm.toml")
    assert settings.spark.master == "sc://spark-connect:15002"
    assert "spark-connect" in SERVICES and "postgres" in settings.catalog
    assert tomllib.loads((ROOT / "docker" / "ivm.toml").read_text("utf-8"))["manifest"].startswith("/lake/")


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "docker").glob("*.sh")))
def test_scripts_are_well_formed(script):
    subprocess.run(["bash", "-n", str(ROOT / "docker" / script)], check=True)
    assert "set -euo pipefail" in (ROOT / "docker" / script).read_text("utf-8")


def test_a_driver_on_the_cluster_is_set_up_as_one_of_ours(tmp_path):
    """`docker/spark.sh driver` runs any program with Spark's configuration in a folder that only this user can read."""
    from ivm_core.engine.session import APPLICATION_CONF

    here = {
        "SPARK_SECRET": "s3cret",
        "SPARK_MASTER": "spark-master:7077",
        "SPARK_HOST": "here",
        "TMPDIR": str(tmp_path),
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    program = 'stat -c %a "$SPARK_CONF_DIR"/*; cat "$SPARK_CONF_DIR"/spark-defaults.conf; umask'
    command = [str(ROOT / "docker" / "spark.sh"), "driver", "bash", "-c", program]
    done = subprocess.run(command, env={**here, "PATH": path}, capture_output=True, text=True, check=True)
    mode, *lines, umask = done.stdout.splitlines()
    conf = dict(line.split(None, 1) for line in lines)
    assert (mode, umask) == ("600", "0022")
    assert conf["spark.authenticate.secret"] == "s3cret" and conf["spark.driver.host"] == "here"
    assert APPLICATION_CONF.items() <= conf.items()


def test_any_password_makes_the_first_user(tmp_path):
    program = (
        "import argparse, sys\n"
        "if sys.argv[1:3] == ['users', 'create']:\n"
        "    parser = argparse.ArgumentParser()\n"
        "    for name in ('role', 'username', 'email', 'firstname', 'lastname', 'password'):\n"
        "        parser.add_argument('--' + name, required=True)\n"
        "    print(parser.parse_args(sys.argv[3:]).password)\n"
    )
    (tmp_path / "airflow").write_text(f"#!{sys.executable}\n{program}")
    (tmp_path / "airflow").chmod(0o755)
    given = {"ADMIN_USER": "-a", "ADMIN_PASSWORD": "-x --role Viewer", "ADMIN_EMAIL": "a@example.org"}
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(ROOT / "docker" / "init.sh")],
        env={"PATH": path, **given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "-x --role Viewer\n"), done.stderr
