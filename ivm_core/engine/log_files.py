"""Tables on local paths, opened without Spark where both engines read and write them alike."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyspark
from deltalake.exceptions import DeltaError

from ivm_core.engine import read_here
from ivm_core.engine.location import local_path
from ivm_core.engine.opened import open_at

_STATE_FEATURES = frozenset({"appendOnly", "changeDataFeed", "invariants"})
_DECODED_TWICE = re.compile("%")  # by delta-rs
# Spark writes instants as INT96, which Arrow would read as nanoseconds: they reach from 1677 to 2262 only.
_FORMAT = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(coerce_int96_timestamp_unit="us"))
ODD = re.compile(r"[%*?\[\]{}\\,:]")  # in paths: encoded by Delta, decoded twice by delta-rs, or patterns to a reader
_OLD_CALENDAR = frozenset({b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"})
_SPARK = b"org.apache.spark.version"
_OF_OLD = (b"1.", b"2.", b"3.0.")  # the last of these for instants alone, which it wrote as INT96
# To be written into files: days and instants of old are those of the calendar that Spark has had since 3.0. Of a file that does
# not say who wrote it, the session decides (datetimeRebaseModeInRead).
IN_NEW_CALENDAR = {_SPARK: pyspark.__version__.encode()}
# Set where a session of this process takes days in files that do not say who wrote them to be of the old calendar, or shifts
# their instants.
UNMARKED_ARE_OTHER = threading.Event()
_MAPPING = "delta.columnMapping.mode"
_READER, _WRITER = 1, 4  # protocol versions up to these hold nothing that delta-rs lacks


def open_state(location: str, version: int | None = None) -> deltalake.DeltaTable | None:
    """A view's own table at a version or the newest, to be written; None where delta-rs would not write it as Delta does."""
    return _alike(
        location, _STATE_FEATURES, _DECODED_TWICE, lambda path: deltalake.DeltaTable(str(path), version=version)
    )


def open_alike(
    location: str, version: int, features: frozenset[str], odd: re.Pattern[str]
) -> deltalake.DeltaTable | None:
    """The table at a version, to be read, with its files' statistics; None where it is better left to Spark.

    That is where it has partitions, a table feature not among ``features``, or a path with ``odd`` characters.
    """
    return _alike(location, features, odd, lambda path: open_at(path, version))


def _alike(
    location: str, features: frozenset[str], odd: re.Pattern[str], opened: Callable[[Path], deltalake.DeltaTable]
) -> deltalake.DeltaTable | None:
    path = local_path(location)
    if path is None or odd.search(str(path)):
        return None
    try:
        table = opened(path)
        protocol, metadata = table.protocol(), table.metadata()
    except DeltaError:
        return None
    used = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    old = protocol.min_reader_version <= _READER and protocol.min_writer_version <= _WRITER
    # A protocol between the two that names no features has all of its version's.
    alike = old or (used and used <= features)
    return table if alike and not metadata.partition_columns else None


def open_as_stored(location: str, version: int, features: frozenset[str]) -> deltalake.DeltaTable | None:
    """As ``open_alike``, where columns are stored under their own names and read as the types that files give them."""
    table = open_alike(location, version, features, ODD)
    if table is None or table.metadata().configuration.get(_MAPPING, "none") != "none":
        return None
    return None if _has_padded_text(json.loads(table.schema().to_json())) else table


def stored_rows(files: Iterable[Path], schema: pa.Schema) -> ds.Dataset:
    """The rows of data files; of a column that a file lacks, NULLs."""
    paths = tuple(files)
    read_here.note(paths)
    return ds.dataset([str(path) for path in paths], schema=schema, format=_FORMAT)


def differ_to_arrow(files: Iterable[Path], schema: pa.Schema) -> bool:
    """Whether Spark finds other values for the columns in some of the files than Arrow does. Raises OSError.

    That is where names are spelled otherwise, a or A, which a table that was converted may have: Arrow takes the column for
    missing. And where days or instants before 1582-10-15 are of the Julian calendar, which Spark alone rebases: writers for
    Hive leave them so (``datetimeRebaseModeInWrite`` LEGACY), and Spark before 3.1 did. Of files that do not say who wrote
    them a session decides (``datetimeRebaseModeInRead``).
    """
    dated = any(pa.types.is_date(type_) or pa.types.is_timestamp(type_) for type_ in schema.types)
    names = frozenset(schema.names)
    unmarked = UNMARKED_ARE_OTHER.is_set()
    return any(
        (dated and (footer.old or (unmarked and footer.unmarked))) or footer.respells(names)
        for footer in map(_footer, files)
    )


@dataclass(frozen=True, slots=True)
class _Footer:
    names: frozenset[str]
    old: bool  # of the old calendar, if there are days and instants
    unmarked: bool  # it does not say who wrote it

    def respells(self, names: frozenset[str]) -> bool:
        if names <= self.names:
            return False
        own = {name.lower() for name in self.names}
        return any(name.lower() in own for name in names - self.names)


@lru_cache(maxsize=65536)  # a data file never changes, and a state's are opened by batch after batch
def _footer(file: Path) -> _Footer:
    footer = pq.read_metadata(file)
    written = footer.metadata or {}
    old = bool(_OLD_CALENDAR & written.keys()) or written.get(_SPARK, b"").startswith(_OF_OLD)
    return _Footer(_one_of_equal(frozenset(footer.schema.to_arrow_schema().names)), old, _SPARK not in written)


@lru_cache(maxsize=1024)
def _one_of_equal(names: frozenset[str]) -> frozenset[str]:
    """The same object for a table's thousands of files."""
    return names


def _has_padded_text(schema: dict[str, Any]) -> bool:
    """Whether a column is a CHAR or VARCHAR, which are strings in files. ``schema``: as Spark's JSON."""
    return "char(" in json.dumps(schema)
