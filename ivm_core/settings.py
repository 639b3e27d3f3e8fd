"""What a deployment is configured with: arguments over IVM_* environment over ``ivm.toml`` over defaults.

::

    Settings.load()                        IVM_SETTINGS, or ./ivm.toml where it exists, or defaults alone
    Settings.load("project/ivm.toml")      that file, or the ``ivm.toml`` in that folder
    Settings.load(catalog="sqlite:///x")   an argument wins over everything; None means "not given"

Nested fields are written ``[spark]`` / ``master = …`` in the file and ``IVM_SPARK__MASTER`` in the environment.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as SourceError

from ivm_core.errors import SettingsError
from ivm_core.settings_sections import AirflowSettings, LimitSettings, SparkSettings

__all__ = [
    "SECRET_NAME",
    "AirflowSettings",
    "LimitSettings",
    "Settings",
    "SparkSettings",
    "in_one_paragraph",
    "mask_url",
]

FILE_NAME = "ivm.toml"
PREFIX = "IVM_"
# Variables with the prefix that configure something else than Settings.
OTHER_VARIABLES = frozenset({"IVM_SETTINGS", "IVM_JARS", "IVM_DEBUG"})
OTHER_PREFIXES = ("IVM_TEST_", "IVM_BENCH_")

SECRET_NAME = re.compile("pass|secret|token|key", re.IGNORECASE)  # in the name of a value that is nobody's to read
# Where a query's value begins whose name suggests a secret, with the "?" or "&" before it.
_SECRET = re.compile(f"[?&][^=&?@]*(?:{SECRET_NAME.pattern})[^=&?@]*=", re.IGNORECASE)

_LONGEST = 2000  # characters of an error that is told of

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def mask_url(url: str) -> str:
    """The URL with what may be a secret replaced: the password, and query values under a name that suggests one.

    >>> mask_url("postgresql://ivm:s3cret@db/ivm?sslmode=require&sslpassword=x")
    'postgresql://ivm:***@db/ivm?sslmode=require&sslpassword=***'
    """
    scheme, separator, rest = url.partition("://") if "://" in url else ("", "", url)
    found = _SECRET.search(rest)
    address, secrets = (rest[: found.start()], rest[found.start() :]) if found else (rest, "")
    if "@" in secrets and ":" in address:
        # In a query's secret, or the end of a password that looks like a query: either way it begins here at the latest.
        address = f"{address.partition(':')[0]}:***"
    else:
        # The last "@": a password typed without percent-encoding may itself hold "@", "/" or "?".
        login, at, place = address.rpartition("@")
        user, colon, _ = login.partition(":")
        address = f"{user}{':***' if colon else ''}{at}{place}"
    return f"{scheme}{separator}{address}{secrets[:1]}{_mask_query(secrets[1:])}"


def in_one_paragraph(error: Exception) -> str:
    """An error of somebody else's: its kind and what it says before Java's stack trace, without the secrets of URLs.

    >>> in_one_paragraph(RuntimeError("no answer from\\npostgresql://ivm:s3cret@db/ivm\\n\\tat org.postgresql.Driver.connect"))
    'RuntimeError: no answer from postgresql://ivm:***@db/ivm'
    """
    said = str(error).replace("\0", "\ufffd")  # which a row's text may hold, and PostgreSQL's may not
    words = said.partition("\n\tat ")[0].split() or ["no message"]
    return f"{type(error).__name__}: {' '.join(map(mask_url, words))}"[:_LONGEST]


def _mask_query(query: str) -> str:
    """The pairs with secrets replaced; what is no pair is the rest of the value before it."""
    shown: list[str] = []
    hides = False
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if equals:
            hides = _SECRET.match(f"&{pair}") is not None
            shown.append(f"{name}={'***' if hides else value}")
        elif not hides:
            shown.append(pair)
    return "&".join(shown)


class Settings(BaseSettings):
    """The whole configuration, immutable; made by ``Settings.load``, which also makes relative paths absolute.

    ``catalog`` may hold a password: print ``safe_catalog``. ``warehouse`` is a path or a storage URL.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, hide_input_in_errors=True
    )

    catalog: Annotated[str, Field(min_length=1)] = Field(default="sqlite:///.ivm/catalog.db", repr=False)
    warehouse: Annotated[str, Field(min_length=1)] = ".ivm/warehouse"
    manifest: Path = Path(".ivm/manifest.json")
    sql_dir: Path = Path("sql")
    project: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")] | None = None
    spark: SparkSettings = SparkSettings()
    limits: LimitSettings = LimitSettings()
    airflow: AirflowSettings = AirflowSettings()
    log_level: Annotated[LogLevel | None, BeforeValidator(_upper)] = None  # None: as whoever runs this has set it
    retention_alarm: Annotated[float, Field(gt=0, le=1)] = 0.5  # share of the retention that a lag may use up

    @classmethod
    def load(cls, path: str | Path | None = None, **overrides: Any) -> Self:
        """Read and check the settings; nested overrides are mappings (``spark={"master": "local[2]"}``).

        Relative paths mean: from the folder of ``ivm.toml``, or the current one where there is none.
        Raises SettingsError for an unreadable or malformed file, an unknown key and a value that is not allowed.
        """
        file = _find_file(path)
        root = (file.parent if file else Path.cwd()).resolve()
        given = _without_none(overrides)
        from_file = _read(file) if file else {}
        _refuse_unknown_variables(_keys(cls))
        try:
            from_environment = EnvSettingsSource(cls)()
        except SourceError as error:
            raise SettingsError(
                f"An {PREFIX}* environment variable cannot be read: {error}. Nested values are JSON, or one variable "
                f"a key, as in {PREFIX}SPARK__MASTER."
            ) from None
        try:
            settings = cls(**_merge(_merge(from_file, from_environment), given))
        except ValidationError as error:
            raise SettingsError(_describe(error, given, from_environment, file, _keys(cls))) from None
        return settings.model_copy(
            update={
                "catalog": _absolute_catalog(settings.catalog, root),
                "warehouse": _absolute(settings.warehouse, root),
                "manifest": Path(_absolute(str(settings.manifest), root)),
                "sql_dir": Path(_absolute(str(settings.sql_dir), root)),
            }
        )

    @property
    def safe_catalog(self) -> str:
        """``catalog`` without its secrets, for logs and messages."""
        return mask_url(self.catalog)

    def project_dir(self) -> Path:
        """The folder with ``tables/`` and ``views/``: ``sql_dir/project``, or the only folder there is."""
        if self.project is not None:
            if (self.sql_dir / self.project).is_dir():
                return self.sql_dir / self.project
            raise SettingsError(f"{self.sql_dir} has no folder {self.project}: correct `project`, or create it.")
        folders = sorted(entry for entry in self.sql_dir.iterdir() if entry.is_dir()) if self.sql_dir.is_dir() else []
        if len(folders) == 1:
            return folders[0]
        if not folders:
            raise SettingsError(
                f"There is no project: {self.sql_dir} holds no folder with tables/ and views/. Go to your project's folder, "
                "name its ivm.toml by --settings, or make a project, as in `ivm init shop`."
            )
        found = ", ".join(folder.name for folder in folders)
        raise SettingsError(f"Set `project`: {self.sql_dir} does not hold exactly one folder (found: {found}).")


def _find_file(path: str | Path | None) -> Path | None:
    named = path if path is not None else os.environ.get("IVM_SETTINGS") or None
    if named is None:
        return Path(FILE_NAME).absolute() if Path(FILE_NAME).is_file() else None
    file = Path(named).expanduser().absolute()
    return file / FILE_NAME if file.is_dir() else file


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise SettingsError(f"The settings file {file} does not exist: correct the path, or run `ivm init`.") from None
    except OSError as error:
        raise SettingsError(f"The settings file {file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SettingsError(f"The settings file {file} is not UTF-8 text (line {line}): save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"The settings file {file} is not valid TOML: {error}. Correct that line.") from None


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = _merge(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
    return merged


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if value is not None
    }


def _absolute(path: str, root: Path) -> str:
    if "://" in path or path.startswith("file:"):
        return path
    return str(Path(os.path.normpath(root / Path(path).expanduser())))


def _absolute_catalog(url: str, root: Path) -> str:
    scheme, _, place = url.partition(":///")
    file, mark, query = place.partition("?")
    if not scheme.startswith("sqlite") or not file or file == ":memory:":
        return url
    return f"{scheme}:///{_absolute(file, root)}{mark}{query}"


def _keys(model: type[BaseModel]) -> tuple[str, ...]:
    """All keys in dotted form, as ``spark.master``."""
    keys: list[str] = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        nested = isinstance(inner, type) and issubclass(inner, BaseModel)
        keys += [f"{name}.{key}" for key in _keys(inner)] if nested else [name]  # type: ignore[arg-type]
    return tuple(keys)


def _nearest(key: str, keys: Iterable[str]) -> str:
    """The valid key most like ``key``, also where only its section was left out or wrong."""
    last = key.rpartition(".")[2]
    moved = [valid for valid in keys if valid.rpartition(".")[2] == last]
    sections = {valid.partition(".")[0] for valid in keys}
    return (moved or difflib.get_close_matches(key, sorted({*keys, *sections}), n=1, cutoff=0.0))[0]


def _variable(key: str) -> str:
    return PREFIX + key.replace(".", "__").upper()


def _refuse_unknown_variables(keys: tuple[str, ...]) -> None:
    first = {key.partition(".")[0] for key in keys}
    for variable in sorted(os.environ):
        name = variable.upper()
        if not name.startswith(PREFIX) or name in OTHER_VARIABLES or name.startswith(OTHER_PREFIXES):
            continue
        key = name.removeprefix(PREFIX).lower().replace("__", ".")
        if key.partition(".")[0] not in first:
            near = _variable(_nearest(key, keys))
            raise SettingsError(f"The environment variable {variable} is no setting: did you mean {near}?")


def _describe(
    error: ValidationError, given: dict[str, Any], environment: dict[str, Any], file: Path | None, keys: tuple[str, ...]
) -> str:
    """One paragraph for the first problem: key, where it was set, what is allowed; not the value: it may be secret."""
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    path = [str(part) for part in problem["loc"]]
    key = ".".join(path)
    if _holds(given, path):
        place = "given as an argument"
    elif _holds(environment, path):
        place = f"set by {_variable(key)}"
    else:
        place = f"in {file}"
    if problem["type"] == "extra_forbidden":
        return f"`{key}`, {place}, is no setting: did you mean `{_nearest(key, keys)}`?"
    return f"`{key}`, {place}, is not allowed: {problem['msg'].removeprefix('Value error, ')}."


def _holds(values: Any, path: list[str]) -> bool:
    for part in path:
        if not isinstance(values, Mapping) or part not in values:
            return False
        values = values[part]
    return True
