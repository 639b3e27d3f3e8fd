"""The sections of the settings: Spark, limits, Airflow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

MASTERS = ("spark://", "sc://", "k8s://", "local[")
# What is no parameter here, as a token after a `;` without `/`, would be part of the server's name, and told with it.
CONNECT_URL = re.compile(r"sc://(\[[0-9a-fA-F:.]+\]|[^][/;:?#@=\s]+)(:[0-9]{1,5})?(/(;[^\s]*)?)?")


def _dotted(value: Any) -> Any:
    """``{"spark": {"x": true}}``, which is how TOML reads an unquoted ``spark.x = true``, → ``{"spark.x": "true"}``."""
    return dict(_flatten("", value)) if isinstance(value, Mapping) else value


def _flatten(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flatten(f"{name}.", value)
        elif isinstance(value, bool):
            yield name, "true" if value else "false"
        else:
            yield name, str(value) if isinstance(value, int | float) else value


def _known_master(master: str) -> str:
    if master not in ("local", "yarn") and not master.startswith(MASTERS):
        raise ValueError("use local[*], local[N], spark://host:port, sc://host:port, yarn or k8s://…")
    if master.startswith("sc://") and not CONNECT_URL.fullmatch(master):
        raise ValueError(
            "a Spark Connect server is sc://host:port, with parameters sc://host:port/;token=…;use_ssl=true"
        )
    return master


class SparkSettings(BaseModel):
    """How Spark is reached and sized. ``shuffle_partitions`` None: as many as cores on ``local[…]``, else Spark's own."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    # Neither is shown by repr: a Connect URL may hold a token, and storage keys are Spark configuration too.
    master: Annotated[str, AfterValidator(_known_master)] = Field(default="local[*]", repr=False)
    driver_memory: Annotated[str, Field(pattern=r"^[1-9][0-9]*[kmgtKMGT]$")] = "2g"
    shuffle_partitions: Annotated[int, Field(ge=1)] | None = None
    conf: Annotated[dict[str, str], BeforeValidator(_dotted)] = Field(default_factory=dict, repr=False)


class LimitSettings(BaseModel):
    """Where one way of doing something gives way to another."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    pushdown_cap: Annotated[int, Field(ge=0)] = 1000  # literal keys in one IN list; past it a range
    replace_rows: Annotated[int, Field(ge=0)] = (
        500_000  # states up to so many rows are rewritten, not merged; 0: always merged
    )
    repair_rows: Annotated[int, Field(ge=0)] = 10_000  # differing rows that are mended; past it a full refresh
    sample_rows: Annotated[int, Field(ge=0)] = 20  # differing rows that a validation shows on each side
    small_files: Annotated[int, Field(ge=0)] = 24  # states with more of them are compacted after a batch; 0: no upkeep
    commits_between_checkpoints: Annotated[int, Field(ge=1)] = 20  # of a state's log
    views_at_once: Annotated[int, Field(ge=0)] = 0  # of one run, siblings in parallel; 0: by the cores that Spark has
    keep_jobs: bool = False  # store every batch's job in the catalogue


class AirflowSettings(BaseModel):
    """The Airflow whose DAGs ``ivm trigger`` starts: an access token, or a name and password that one is asked for with."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+(/[^?#@\s]*)?$")] = "http://localhost:8080"
    username: Annotated[str, Field(min_length=1)] | None = None
    password: SecretStr | None = None
    token: SecretStr | None = None
