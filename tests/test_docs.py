"""The pages for users tell the truth: links lead somewhere, commands, options, files, settings and properties are there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from ivm_core.cli.app import app
from ivm_core.cost.model import Reason, Strategy
from ivm_core.plan.definition import KNOWN_PROPERTIES
from ivm_core.settings import Settings, _keys, _variable

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "ivm_core" / "DECISIONS.md"]
GUIDES = [page for page in PAGES if page.name not in ("DECISIONS.md", "sql-support.md")]
FOLDERS = ("bench", "dags", "docker", "docs", "ivm_core", "plugins", "scripts", "sql/tpch", "tests")
IVM: Any = typer.main.get_command(app)
# What stands for something of the reader's own.
PLACEHOLDER = re.compile(r"[<>…\[\]{}*|]")


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def prose_of(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)


def code_of(page: Path) -> Iterator[str]:
    """Each line of blocks of code, and each piece of code within a line."""
    text = text_of(page)
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        yield from block.splitlines()
    yield from re.findall(r"^ {4}(\S.*)$", text, re.MULTILINE)
    yield from re.findall(r"`([^`\n]+)`", prose_of(page))


def anchors_of(page: Path) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", prose_of(page), re.MULTILINE)
    words = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), link
        assert not anchor or anchor in anchors_of(there), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_are_there(page: Path) -> None:
    for piece in re.findall(r"`([^`\s]+)`", prose_of(page)):
        path = piece.partition("::")[0].rstrip("/")
        if path.startswith(tuple(f"{folder}/" for folder in FOLDERS)) and not PLACEHOLDER.search(path):
            assert (ROOT / path).exists(), piece


def commands_of(page: Path) -> Iterator[list[str]]:
    for line in code_of(page):
        words = (
            re.sub(r"\s#.*$", "", line).strip().removeprefix(".venv/bin/").removeprefix("docker compose run --rm ivm ")
        )
        for part in words.split(" && "):
            if part.startswith("ivm "):
                yield shlex.split(re.sub(r"\\\|", " ", part).replace("'", ""))[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_have_these_options(page: Path) -> None:
    for words in commands_of(page):
        command = IVM
        while words and hasattr(command, "commands") and re.fullmatch(r"[a-z]+", words[0]):
            assert words[0] in command.commands, f"ivm {' '.join(words)}"
            command, words = command.commands[words[0]], words[1:]
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {
            "--help",
            "-h",
        }
        options = {option for word in words for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", word)}
        assert options <= known, f"{command.name}: {options - known}"


def test_every_command_is_documented_with_all_of_its_options() -> None:
    rows = re.findall(
        r"^\| (`ivm .*?) \|(?: [a-zA-Z])", text_of(ROOT / "docs" / "cli.md").replace("\\|", "¦"), re.MULTILINE
    )
    bench = IVM.commands["bench"]
    shared = {"--json", "--settings", "--help", "--out", "--repeat", "--master", "--driver-memory"}
    for prefix, group, common in (("ivm", IVM, {"--json", "--settings", "--help"}), ("ivm bench", bench, shared)):
        for name, command in group.commands.items():
            told = " ".join(row for row in rows if re.match(rf"`{prefix} {name}\b", row))
            assert told, f"{prefix} {name}"
            for option in (option for option in command.params if option.opts[0].startswith("--")):
                names = {*option.opts, *option.secondary_opts}
                assert names & common or any(name in told for name in names), f"{prefix} {name}: {names}"


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_targets_of_make_are_there(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    for line in code_of(page):
        if found := re.match(r"make ([a-z-]+)", line):
            assert found[1] in targets, line


def test_settings_are_documented_with_their_variables_and_defaults() -> None:
    text = text_of(ROOT / "docs" / "cli.md")
    for key in _keys(Settings):
        assert f"`{key}`" in text, key
        assert f"`{_variable(key)}`" in text or key == "spark.conf", key
    shown = dict(re.findall(r"^\| `([a-z_.]+)` \| `IVM_\w+` \| `?([^`|]*?)`? \|", text, re.MULTILINE))
    for key, default in shown.items():
        value: Any = Settings()
        for part in key.split("."):
            value = getattr(value, part)
        if default and value is not None:
            assert default == (str(value).lower() if isinstance(value, bool) else str(value)), key


def test_properties_strategies_and_reasons_are_documented() -> None:
    text = text_of(ROOT / "docs" / "views.md")
    for word in (*KNOWN_PROPERTIES, *Strategy, *Reason):
        assert f"`{word}`" in text, word


def test_the_figures_at_the_front_are_those_of_the_page_of_measurements() -> None:
    _, _, measured = text_of(ROOT / "docs" / "performance.md").partition("### TPC-H at SF 10")
    _, _, shown = text_of(ROOT / "README.md").partition("| TPC-H at SF 10 |")
    found = re.findall(
        r"^\| (q\d+_\w+)\S* \| (\S+ s) \| (\S+ s) \| (\S+×) \|", shown.partition("\n\n")[0], re.MULTILINE
    )
    assert len(found) >= 5
    for view, full, auto, ratio in found:
        assert re.search(rf"^\| {view} \| {full} \| \S+ s \| {auto} \| \w+ \| {ratio} \|", measured, re.MULTILINE), view
