"""A TPC-H database with its views, loaded into a deployment and ready to be changed and measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench import tpch_data
from bench.changes import Kind, Loaded, apply_change, changes_in_a_row
from bench.demo_display import Display
from bench.deployment import Deployment, Place, deployment, make_schemas
from bench.plain_spark import SCHEMA as FULL_SCHEMA
from bench.refresh_functions import Stream
from bench.subjects import COPY_SCHEMA, Subject, create_subjects, read_views
from bench.ways import Trial, trials
from ivm_core.errors import SettingsError
from ivm_core.plan.definition import ViewDefinition, parse_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OTHERS = Path(__file__).parent / "tpch_views"  # what the demo leaves out
# Changes before those that count, where a session is new: it gets faster for some of them, as Java compiles what it runs.
WARM_UP = 6
SCHEMAS = (COPY_SCHEMA, FULL_SCHEMA, tpch_data.SCHEMA)


@dataclass(frozen=True, slots=True)
class TpchSubjects:
    """The loaded database. ``refused``: views that could not be built, with the reason."""

    place: Deployment
    scale: float
    stream: Stream
    loaded: Loaded
    subjects: tuple[Subject, ...]
    refused: dict[str, str]

    def streams(self, percent: float) -> Stream | None:
        """Changes of this size; None of no size."""
        return Stream(self.scale, self.stream.data, percent) if percent > 0 else None

    def catch_up(self) -> None:
        """Bring every view to the tables as they are, untimed.

        One by one, as they are measured: in a run of several views reading their changes counts to none of them, and what is
        remembered of such a batch would tell ``auto`` that a view alone takes as little.
        """
        for subject in self.subjects:
            for name in (subject.name, subject.copy):
                self.place.engine.maintain([name], raise_errors=False)

    def start_over(self) -> None:
        """Bring the tables back to the loaded state, and the views with them, untimed."""
        self.loaded.restore(self.place.spark)
        self.catch_up()


def tpch_views(wanted: tuple[str, ...]) -> tuple[ViewDefinition, ...]:
    """The demo's views and all other queries of TPC-H, or those ``wanted``. Raises SettingsError where there is no such."""
    return read_views([tpch_data.SQL_FOLDER / "views", OTHERS], wanted)


@contextmanager
def open_tpch(
    place: Place,
    name: str,
    spark: SparkSession,
    scale: float,
    definitions: Sequence[ViewDefinition],
    display: Display,
    limits: Mapping[str, int] | None = None,
    *,
    scattered: bool = False,
) -> Iterator[TpchSubjects]:
    """Generate and load the data, build each of the views and its copy. ``limits``: settings of the deployment.

    ``scattered``: load each table's rows in no order.

    Raises SettingsError where none of the views can be built.
    """
    with display.step(f"Generate SF {scale:g}", len(tpch_data.TABLES)) as advance:
        data = tpch_data.generate(scale, place.data, advance)
    with deployment(place, name, spark, SCHEMAS, limits) as opened:
        with display.step(f"Load SF {scale:g}", len(tpch_data.TABLES)) as advance:
            tpch_data.create_tables(spark)
            tpch_data.load(spark, data, advance, scattered=scattered)
            _declare_keys(opened)
            loaded = Loaded.of(spark)
        make_schemas(spark, COPY_SCHEMA, FULL_SCHEMA)
        with display.step("Build views", len(definitions)) as advance:
            subjects, refused = create_subjects(opened, definitions, advance)
        if definitions and not subjects:
            raise SettingsError("None of the views can be built: " + " ".join(refused.values()))
        yield TpchSubjects(opened, scale, Stream(scale, data), loaded, subjects, refused)


def changes(
    tpch: TpchSubjects, kind: Kind, percent: float, repeats: int, *, in_a_row: bool = False
) -> Iterator[dict[str, int]]:
    """Make ``repeats`` changes of one size, one at each step; yields the changed rows of each table.

    Each is a further change of the same size; where they run out, the tables are brought back to the loaded state first.
    Raises SettingsError where a change has more orders than there are, or all of them must be ``in_a_row`` and cannot be.
    """
    stream, most = tpch.streams(percent), changes_in_a_row(tpch.scale, percent, kind)
    if most < (repeats if in_a_row else 1):
        raise SettingsError(
            f"At SF {tpch.scale:g} there are orders for {most} changes of {percent:g} % in a row, and {repeats} are to be "
            "made: take smaller ones, fewer of them, or a larger scale factor."
        )
    for turn in range(repeats):
        if turn and turn % most == 0:
            tpch.start_over()
        yield apply_change(tpch.place.spark, stream, kind, turn % most + 1)


def changed_trials(
    tpch: TpchSubjects, kind: Kind, percent: float, repeats: int, display: Display, *, warm_up: int = 0
) -> Iterator[Trial]:
    """``repeats`` changes of one size from the loaded state on, each followed by trials of all views.

    ``warm_up``: so many changes come before, whose trials are not yielded: they meet code that no one has run yet.
    """
    turns = repeats + warm_up
    with display.step(f"SF {tpch.scale:g}: {kind} {percent:g} %", turns * len(tpch.subjects)) as advance:
        for turn, rows in enumerate(changes(tpch, kind, percent, turns)):
            for trial in trials(tpch.place, tpch.subjects, turn, rows, tpch.scale, str(kind), percent):
                if turn >= warm_up:
                    yield trial
                advance(trial.view)


def _declare_keys(opened: Deployment) -> None:
    for table in tpch_data.TABLES:
        schema = parse_table((tpch_data.SQL_FOLDER / "tables" / f"{table}.sql").read_text("utf-8")).schema
        keys = tuple((key.columns, key.table, key.referenced) for key in schema.foreign_keys)
        opened.engine.register_table(schema.name, primary_key=schema.primary_key, foreign_keys=keys)
