"""The rules that hold the code in shape: directions of import, package docstrings, file sizes, names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ivm_core.cost.model import Reason, Strategy

ROOT = Path(__file__).parent.parent
SOURCES = sorted(path for path in (ROOT / "ivm_core").rglob("*.py") if "template" not in path.parts)
PACKAGES = [path for path in SOURCES if path.name == "__init__.py"]
MODULES = [path for path in SOURCES if path.name != "__init__.py"]
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "service", "misc"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_imports_flow_one_way() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", PACKAGES, ids=name)
def test_package_is_a_docstring_with_at_most_reexports(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstring = ast.get_docstring(tree)
    assert docstring and docstring.rstrip().endswith((".", "::")) and len(docstring) > 30, (
        "says what the package is for"
    )
    if path.parent.name == "ivm_core":
        return  # the public surface loads its names lazily: test_exported_members.py
    for statement in tree.body[1:]:
        exports = isinstance(statement, ast.Assign) and {
            target.id for target in statement.targets if isinstance(target, ast.Name)
        } <= {"__all__", "__version__"}
        assert exports or isinstance(statement, ast.Import | ast.ImportFrom), ast.unparse(statement)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_module_opens_with_a_sentence(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring, "a module says in its first sentence what it is for"
    first = docstring.partition("\n\n")[0]
    assert first.rstrip().endswith((".", ":", "::")), first


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_long_file_says_why(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    explained = any(re.match(r"# Long because ", line) for line in lines)
    assert len(lines) <= 300 or explained, f"{len(lines)} lines: split it, or say why in a line '# Long because …'"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_module_is_named_for_what_it_holds(path: Path) -> None:
    parts = {part for module in path.relative_to(ROOT).with_suffix("").parts for part in module.split("_")}
    assert not parts & EMPTY_NAMES


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_sql_is_not_edited_as_text(path: Path) -> None:
    """No f-string that begins a statement: SQL is built from trees. Messages are sentences, so they do not match."""
    starts = re.compile(
        r"^\s*(SELECT|INSERT INTO|MERGE INTO|DELETE FROM|UPDATE|DROP (TABLE|VIEW)|"
        r"CREATE (OR REPLACE )?(TABLE|VIEW|SCHEMA)) "
    )
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
            assert not starts.match(str(node.values[0].value)), f"line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_expressions_are_sql(path: Path) -> None:
    """``pyspark.sql.functions`` build for one kind of session by an environment variable: not for Connect beside it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            names = {f"{module}.{alias.name}" if module else alias.name for alias in node.names}
            functions = "pyspark.sql.functions"
            assert not any(each.startswith(functions) for each in names), f"line {node.lineno}: {ast.unparse(node)}"


def test_every_reason_and_strategy_is_given_somewhere() -> None:
    code = " ".join(path.read_text(encoding="utf-8") for path in SOURCES)
    for kind in (Reason, Strategy):
        assert [item.name for item in kind if f"{kind.__name__}.{item.name}" not in code] == []
