"""Settings: order of sources, paths, and one-paragraph refusals that name key and place and hold no secret."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from ivm_core.errors import SettingsError
from ivm_core.settings import Settings, in_one_paragraph, mask_url

SECRET = "s3cr/et@?"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder and no settings in the environment."""
    import os

    for name in list(os.environ):
        if name.upper().startswith("IVM_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str | bytes) -> Path:
    file = folder / "ivm.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_defaults_stand_in_the_current_folder(folder: Path) -> None:
    settings = Settings.load()
    assert settings.catalog == f"sqlite:///{folder}/.ivm/catalog.db"
    assert settings.warehouse == f"{folder}/.ivm/warehouse"
    assert settings.manifest == folder / ".ivm/manifest.json"
    assert (settings.limits.pushdown_cap, settings.limits.replace_rows, settings.limits.sample_rows) == (
        1000,
        500_000,
        20,
    )


def test_argument_over_environment_over_file_over_default(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, '[spark]\nmaster = "local[1]"\ndriver_memory = "1g"\nshuffle_partitions = 3\n')
    monkeypatch.setenv("IVM_SPARK__MASTER", "local[2]")
    monkeypatch.setenv("IVM_SPARK__DRIVER_MEMORY", "3g")
    spark = Settings.load(spark={"master": "sc://host:15002", "driver_memory": None}).spark
    assert (spark.master, spark.driver_memory, spark.shuffle_partitions) == ("sc://host:15002", "3g", 3)


def test_none_means_not_given(folder: Path) -> None:
    write(folder, 'log_level = "debug"')
    assert Settings.load(log_level=None, catalog=None).log_level == "DEBUG"


def test_relative_paths_start_at_the_file(folder: Path) -> None:
    (folder / "project").mkdir()
    file = write(folder / "project", 'catalog = "sqlite:///state/c.db?timeout=5"\nwarehouse = "../lake"\n')
    for given in (file, file.parent, "project/ivm.toml"):
        settings = Settings.load(given)
        assert settings.catalog == f"sqlite:///{folder}/project/state/c.db?timeout=5"
        assert settings.warehouse == f"{folder}/lake"


def test_file_named_by_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "elsewhere").mkdir()
    write(folder, 'warehouse = "here"')
    monkeypatch.setenv("IVM_SETTINGS", str(write(folder / "elsewhere", 'warehouse = "there"')))
    assert Settings.load().warehouse == f"{folder}/elsewhere/there"


@pytest.mark.parametrize("url", ["s3a://bucket/lake", "abfss://c@account/lake", "file:/lake", "/lake"])
def test_absolute_places_are_kept(url: str) -> None:
    assert Settings.load(warehouse=url).warehouse == url


def test_spark_configuration_reads_dotted_keys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, '[spark.conf]\nspark.sql.adaptive.enabled = false\n"spark.ui.port" = 4050\n')
    monkeypatch.setenv("IVM_SPARK__CONF", '{"spark.app.name": "ivm"}')
    assert Settings.load().spark.conf == {
        "spark.sql.adaptive.enabled": "false",
        "spark.ui.port": "4050",
        "spark.app.name": "ivm",
    }


REFUSED = [
    ("warehuose = 'x'", "`warehuose`, in {file}, is no setting: did you mean `warehouse`?"),
    ("[spark]\nmastr = 'x'", "`spark.mastr`, in {file}, is no setting: did you mean `spark.master`?"),
    ("master = 'x'", "`master`, in {file}, is no setting: did you mean `spark.master`?"),
    ("[limit]\nsample_rows = 1", "`limit`, in {file}, is no setting: did you mean `limits`?"),
    ("[spark]\nmaster = 'mesos://x'", "`spark.master`, in {file}, is not allowed: use local[*]"),
    *(
        (
            f"[spark]\nmaster = 'sc://{url}'",
            "`spark.master`, in {file}, is not allowed: a Spark Connect server is sc://host:port",
        )
        for url in (
            "host;token=x",
            "host:15002;token=x",
            "host:15002/token=x",
            "host:15002?token=x",
            "token@host",
            "",
            "host:no",
        )
    ),
    ("[spark]\nshuffle_partitions = 0", "`spark.shuffle_partitions`, in {file}, is not allowed: "),
    ("retention_alarm = 2", "`retention_alarm`, in {file}, is not allowed: "),
    ("project = '../x'", "`project`, in {file}, is not allowed: "),
    ("spark = 'x'", "`spark`, in {file}, is not allowed: "),
    ("a = 1\nb == 2", "{file} is not valid TOML: "),
    ("a = 1\nb == 2", "line 2"),
    (b"a = 1\nb = '\xff'", "{file} is not UTF-8 text (line 2)"),
    (b"\x00\x01\x02", "{file} is not valid TOML"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_wrong_file_is_refused_in_one_paragraph(folder: Path, text: str | bytes, message: str) -> None:
    file = write(folder, text)
    with pytest.raises(SettingsError) as caught:
        Settings.load()
    assert message.format(file=file) in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 8


def test_missing_file_is_refused(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.toml does not exist"):
        Settings.load("absent.toml")


def test_unknown_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_CATALOGUE", f"postgresql://u:{SECRET}@h/d")
    with pytest.raises(SettingsError, match=r"IVM_CATALOGUE is no setting: did you mean IVM_CATALOG\?") as caught:
        Settings.load()
    assert SECRET not in caught.value.message


def test_unknown_nested_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_LIMITS__SAMPLE", "3")
    with pytest.raises(SettingsError, match=r"set by IVM_LIMITS__SAMPLE, is no setting: .*limits\.sample_rows"):
        Settings.load()


def test_variables_of_other_parts_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IVM_JARS", "IVM_DEBUG", "IVM_TEST_SPARK", "IVM_BENCH_SF"):
        monkeypatch.setenv(name, "1")
    assert Settings.load().project is None


def test_unknown_argument_is_refused() -> None:
    with pytest.raises(SettingsError, match="`catalogue`, given as an argument, is no setting: did you mean `catalog`"):
        Settings.load(catalogue="sqlite:///x")


def test_malformed_json_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_SPARK__CONF", "{" + SECRET)
    with pytest.raises(SettingsError, match=r"IVM_SPARK__MASTER|spark\.conf") as caught:
        Settings.load()
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_secrets_are_not_shown(folder: Path) -> None:
    settings = Settings.load(catalog=f"postgresql://ivm:{SECRET}@db:5432/ivm", spark={"conf": {"spark.x.key": SECRET}})
    assert SECRET not in repr(settings)
    assert settings.safe_catalog == "postgresql://ivm:***@db:5432/ivm"
    with pytest.raises(SettingsError) as caught:
        Settings.load(catalog=["postgresql://", SECRET], spark={"conf": {"spark.x.key": [SECRET]}})
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("sqlite:////x/c.db", "sqlite:////x/c.db"),
        ("postgresql://db/ivm", "postgresql://db/ivm"),
        ("no url", "no url"),
        ("postgresql//ivm:s@db/ivm", "postgresql//ivm:***@db/ivm"),
        ("postgresql://ivm@db/ivm", "postgresql://ivm@db/ivm"),
        ("postgresql://ivm:a@b/c?d@db/ivm", "postgresql://ivm:***@db/ivm"),
        (
            "postgresql:///ivm?user=u&password=p&sslmode=require",
            "postgresql:///ivm?user=u&password=***&sslmode=require",
        ),
        ("postgresql://host/db?user=x&password=p@ss", "postgresql://host/db?user=x&password=***"),
        ("postgresql:///db?host=/tmp&password=p@s:?/&s&port=1", "postgresql:///db?host=/tmp&password=***&port=1"),
        ("postgresql://db:5432/ivm?Password=p:@s", "postgresql://db:***?Password=***"),
        ("postgresql://ivm:a?b@db/ivm?password=x", "postgresql://ivm:***@db/ivm?password=***"),
        ("postgresql://ivm:a@b?key=c@db/ivm", "postgresql://ivm:***?key=***"),
    ],
)
def test_mask_url(url: str, masked: str) -> None:
    assert mask_url(url) == masked


def test_settings_are_immutable() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings.load().warehouse = "x"


def test_project_dir_is_the_only_folder(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"There is no project: .*`ivm init shop`"):
        Settings.load().project_dir()
    (folder / "sql/one").mkdir(parents=True)
    assert Settings.load().project_dir() == folder / "sql/one"
    (folder / "sql/two").mkdir()
    with pytest.raises(SettingsError, match="found: one, two"):
        Settings.load().project_dir()
    assert Settings.load(project="two").project_dir() == folder / "sql/two"
    with pytest.raises(SettingsError, match="has no folder three"):
        Settings.load(project="three").project_dir()


def test_an_error_of_others_is_one_paragraph_without_stack_and_secrets() -> None:
    """As py4j has it: the first line says nothing, the second all, and then come a hundred of Java's own."""
    raised = RuntimeError(
        "An error occurred while calling o93.sql.\n: org.apache.spark.SparkException: no file at\n"
        "https://store/t?sig=1&token=s3cret\n\tat org.apache.spark.A.b(A.scala:1)\n\tat org.apache.spark.C.d(C.scala:2)"
    )
    shown = in_one_paragraph(raised)
    assert "\n" not in shown and "s3cret" not in shown and "A.scala" not in shown
    assert shown.startswith("RuntimeError: An error occurred") and "SparkException: no file at https://store/t" in shown
    assert in_one_paragraph(ValueError()) == "ValueError: no message"
    assert (
        in_one_paragraph(ValueError("'1\0' is no number")) == "ValueError: '1\ufffd' is no number"
    )  # PostgreSQL has no NUL
    assert len(in_one_paragraph(ValueError("x" * 100_000))) == 2000


@pytest.mark.parametrize(
    "url", ["sc://host", "sc://[::1]:15002", "sc://host:15002/", "sc://host:1/;token=a%20b;use_ssl=true"]
)
def test_a_connect_url_is_taken_and_not_shown(url):
    settings = Settings.load(spark={"master": url})
    assert settings.spark.master == url
    assert url not in repr(settings)
