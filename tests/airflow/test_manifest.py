"""The manifest: where it is found, in which order it is read, what is said of a broken one."""

from __future__ import annotations

import json

import pytest
from ivm_airflow.manifest import ManifestError, manifest_path, read_groups, read_stated, settings_path

from ivm_core.settings import Settings

from .conftest import write_manifest


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    monkeypatch.delenv("IVM_MANIFEST", raising=False)
    monkeypatch.delenv("IVM_SETTINGS", raising=False)
    monkeypatch.chdir(tmp_path)


def test_groups_and_views_are_sorted(tmp_path):
    groups = read_groups(write_manifest(tmp_path / "manifest.json", groups=3, views=4))
    assert [group.name for group in groups] == sorted(group.name for group in groups)
    assert all(list(group.views) == sorted(group.views, key=lambda view: view.name) for group in groups)
    assert groups[0].schedule == "0 * * * *" and groups[1].schedule is None
    assert groups[0].views[0].validate_every_seconds == 86400


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"version": 2, "groups": []}', '{"version": 1}', '{"version": 1, "groups": [{}]}']
)
def test_a_broken_manifest_says_how_to_mend_it(tmp_path, text):
    path = tmp_path / "manifest.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ManifestError, match="Run `ivm apply` to write it again") as caught:
        read_groups(path)
    assert str(path) in str(caught.value)


def test_a_missing_manifest_has_no_groups(tmp_path):
    assert read_groups(tmp_path / "none.json") == ()


def test_where_it_is_found(tmp_path, monkeypatch):
    assert str(manifest_path()) == ".ivm/manifest.json"
    folder = tmp_path / "deployment"
    folder.mkdir()
    settings = folder / "ivm.toml"
    monkeypatch.setenv("IVM_SETTINGS", str(settings))
    settings.write_text('warehouse = "lake"\n', "utf-8")
    assert manifest_path() == folder / ".ivm" / "manifest.json"
    settings.write_text('manifest = "build/groups.json"\n', "utf-8")
    assert manifest_path() == folder / "build" / "groups.json"
    monkeypatch.setenv("IVM_MANIFEST", str(tmp_path / "other.json"))
    assert manifest_path() == tmp_path / "other.json"


@pytest.mark.parametrize("settings", ["{folder}/ivm.toml", "{folder}", "~/deployment/ivm.toml", "deployment", ""])
@pytest.mark.parametrize("text", ["", 'manifest = "build/groups.json"\n', 'manifest = "~/groups.json"\n'])
@pytest.mark.parametrize("manifest", ["", "other/groups.json", "~/groups.json", "/groups.json"])
def test_it_is_found_where_the_command_line_writes_it(tmp_path, monkeypatch, settings, text, manifest):
    folder = tmp_path / "deployment"
    folder.mkdir()
    (folder / "ivm.toml").write_text(text, "utf-8-sig")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IVM_SETTINGS", settings.format(folder=folder))
    if manifest:
        monkeypatch.setenv("IVM_MANIFEST", manifest)
    if not settings:
        monkeypatch.chdir(folder)
    assert manifest_path().absolute() == Settings.load(settings_path()).manifest == Settings.load().manifest


def test_expectations_are_read_by_view(tmp_path):
    path = tmp_path / "manifest.json"
    assert read_stated(path) == {}
    path.write_text("{")
    with pytest.raises(ManifestError, match="is not valid JSON"):
        read_stated(path)
    path.write_text(json.dumps({"version": 1, "groups": []}))
    assert read_stated(path) == {}
    listed = [{"type": "expect_column_to_exist", "kwargs": {"column": "k"}}]
    path.write_text(json.dumps({"version": 1, "groups": [], "expectations": {"gold.a": listed}}))
    assert {view: json.loads(text) for view, text in read_stated(path).items()} == {"gold.a": listed}
