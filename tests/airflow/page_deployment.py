"""A deployment for the page's tests: TPC-H's views with made-up histories over tiny Delta tables, written without Spark."""

from __future__ import annotations

import json
import random
import re
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.model import BatchRecord, LifeStage, TableRecord, ValidationRecord, ViewRecord
from ivm_core.cost.model import Reason, Strategy
from ivm_core.job.compile import compile_view
from ivm_core.maintain.project import write_manifest
from ivm_core.maintain.session import Session
from ivm_core.plan.definition import parse_definition
from ivm_core.plan.definition_table import parse_table
from ivm_core.plan.schema import TableSchema, types_of
from ivm_core.settings import Settings

from .conftest import ROOT

PROJECT = ROOT / "sql" / "tpch"
BATCHES = 24
NIGHTLY = ("tpch.q14_promotion_effect", "tpch.q19_discounted_revenue")  # a second group
ARROW = {"bigint": pa.int64(), "int": pa.int32(), "string": pa.string(), "date": pa.date32()}


def write_settings(folder: Path) -> Path:
    """The deployment's ``ivm.toml``."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "ivm.toml"
    file.write_text('catalog = "sqlite:///catalog.db"\nmanifest = "manifest.json"\nwarehouse = "warehouse"\n', "utf-8")
    return file


def make_deployment(folder: Path, commits: int = 4) -> Path:
    """Tables of several commits and views with batches and validations; some views lag. Returns the settings file."""
    file = write_settings(folder)
    settings = Settings.load(file)
    chance = random.Random(5)
    schemas: dict[str, TableSchema] = {}
    with Catalog.open(settings.catalog) as catalog:
        for source in sorted((PROJECT / "tables").glob("*.sql")):
            schema = parse_table(source.read_text("utf-8")).schema
            schemas[schema.name] = schema
            location = folder / "warehouse" / schema.name
            for commit in range(commits):
                _append(location, schema, rows=commit + 1)
            catalog.upsert_table(
                TableRecord(schema.name, str(uuid.uuid4()), str(location), schema.columns, schema.primary_key)
            )
        files = sorted((PROJECT / "views").glob("*.sql"), key=lambda file: (file.stem == "profit_by_year", file.stem))
        for number, source in enumerate(files):
            view = _register(catalog, folder, schemas, source.read_text("utf-8"))
            # Every third view stands one commit behind its tables.
            _live(catalog, view, number, commits - 1 - (number % 3 == 0), chance)
        write_manifest(Session(settings, catalog))
    return file


def _append(location: Path, schema: TableSchema, rows: int) -> None:
    columns = {name: pa.nulls(rows, _arrow(kind)) for name, kind in schema.columns}
    write_deltalake(str(location), pa.table(columns), mode="append")


def _arrow(kind: str) -> pa.DataType:
    decimal = re.match(r"decimal\((\d+), ?(\d+)\)", kind)
    return pa.decimal128(int(decimal[1]), int(decimal[2])) if decimal else ARROW[kind]


def _register(catalog: Catalog, folder: Path, schemas: dict[str, TableSchema], sql: str) -> ViewRecord:
    definition = parse_definition(sql)
    compiled = compile_view(definition.name, definition.query, schemas)
    types = types_of(compiled.plan)
    columns = tuple((name, types.get(name) or "string") for name in compiled.columns)
    schemas[definition.name] = TableSchema(definition.name, columns)
    location = folder / "warehouse" / definition.name
    _append(location, TableSchema(definition.name, (("n", "bigint"),)), rows=1)
    return catalog.add_view(
        ViewRecord(
            view_id=str(uuid.uuid4()),
            name=definition.name,
            sql=sql,
            group="nightly" if definition.name in NIGHTLY else definition.group,
            schedule=definition.schedule,
            policy=definition.policy,
            fingerprint=compiled.fingerprint,
            columns=columns,
            tables=compiled.tables,
            location=str(location),
            status=LifeStage.ACTIVE,
            created_at=datetime.now(UTC) - timedelta(days=3),
            comment=definition.comment,
        )
    )


def _live(catalog: Catalog, view: ViewRecord, number: int, version: int, chance: random.Random) -> None:
    """A first build, hourly batches among which a failed and a full one, and validations."""
    now = datetime.now(UTC)
    full = chance.uniform(8, 40)
    for batch in range(1, BATCHES + 1):
        catalog.add_batch(_batch(view, batch, version, full, now, number, chance))
    for days in (2, 0):
        if number % 4 != 3:
            ok = not (number == 5 and days == 0)
            catalog.add_validation(
                ValidationRecord(
                    view=view.name,
                    batch_number=BATCHES - days * 12,
                    ok=ok,
                    missing_count=0 if ok else 3,
                    unexpected_count=0 if ok else 1,
                    rows=chance.randrange(4, 120_000),
                    versions=dict.fromkeys(view.tables, version),
                    seconds=full * 1.4,
                    checked_at=now - timedelta(days=days, minutes=7),
                    full_seconds=full,
                    run_id="scheduled__2026-11-22T16:00:00+00:00",
                )
            )


def _batch(
    view: ViewRecord, batch: int, version: int, full: float, now: datetime, number: int, chance: random.Random
) -> BatchRecord:
    finished = now - timedelta(hours=BATCHES - batch, minutes=4 + 11 * number)
    first, failed, again = batch == 1, batch == 9 and number % 2 == 0, batch == 15 and number == 1
    whole = first or again
    seconds = full * chance.uniform(0.9, 1.1) if whole else full * chance.uniform(0.06, 0.3)
    reason = Reason.FIRST_BUILD if first else Reason.CHEAPER if again else Reason.LINEAR
    at = 0 if view.tables[0].startswith("tpch.q") else version
    record = BatchRecord(
        view=view.name,
        number=batch,
        strategy=Strategy.FULL if whole else Strategy.INCREMENTAL,
        reason=reason,
        started_at=finished - timedelta(seconds=seconds),
        finished_at=finished,
        from_versions={table: max(at - 1, 0) for table in view.tables},
        to_versions=dict.fromkeys(view.tables, at),
        rows_changed=chance.randrange(0, 9000),
        seconds=seconds,
        predicted_incremental_seconds=None if first else full * 0.2,
        predicted_full_seconds=None if first else full,
        run_id=f"scheduled__{finished:%Y-%m-%dT%H:00:00+00:00}",
    )
    return replace(record, reason=Reason.FAILED, error="ExecutorLost: no executor is left") if failed else record


def add_odd_view(settings: Path, name: str, **changes: Any) -> None:
    """A view whose names and texts nobody would choose who means well; no statement would define it."""
    with Catalog.open(Settings.load(settings).catalog) as catalog:
        [model, *_] = catalog.views()
        catalog.add_view(
            replace(model, view_id=str(uuid.uuid4()), name=name, location=f"{model.location}/none", **changes)
        )


def add_many_views(settings: Path, count: int) -> None:
    """Copies of the first view, with a batch and a validation each, in groups of fifty."""
    with Catalog.open(Settings.load(settings).catalog) as catalog:
        model = catalog.view("tpch.q01_pricing_summary")
        [batch], [check] = catalog.history(model.name, 1), catalog.validations(model.name, 1)
        for number in range(count):
            name = f"many.view_{number:04}"
            catalog.add_view(
                replace(model, view_id=str(uuid.uuid4()), name=name, group=f"group_{number // 50:02}", sql=f"{name}")
            )
            catalog.add_batch(replace(batch, view=name))
            catalog.add_validation(replace(check, view=name))


def group_names(settings: Path) -> list[str]:
    """The groups of the manifest."""
    document = json.loads((settings.parent / "manifest.json").read_text("utf-8"))
    return [group["name"] for group in document["groups"]]
