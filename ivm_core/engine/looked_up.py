"""Rows of a table with certain keys, read from its files by this process: Arrow looks them up in a third of Spark's time.

Of a table that is read as its files (``plain_files``), where Spark's tasks run on this machine too: elsewhere they have the
more cores. What is read passes by in batches; only rows with the keys are kept, and where they are many it is left to Spark.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ivm_core.engine.literals import family
from ivm_core.engine.log_files import differ_to_arrow, stored_rows
from ivm_core.engine.plain_files import Bounds, PlainTable
from ivm_core.engine.small import ColumnValues, is_plain, values_of

logger = logging.getLogger(__name__)

MOST_ROWS = 500_000
MOST_BYTES = 256 * 2**20

Keys = Mapping[str, pa.Array]  # distinct values by column: a row is meant where every column has one of its values


def look_up(
    table: PlainTable, types: Mapping[str, str], columns: Collection[str], alternatives: Sequence[Keys]
) -> pa.Table | None:
    """The rows with the keys of any of the alternatives, under the table's own names; None where it is left to Spark.

    ``types``: Spark's; those, ``columns`` and the names of keys are in lower case. An alternative without keys is all rows.
    Left to Spark are columns whose types Arrow does not tell alone, files of the old calendar, more than ``MOST_ROWS`` rows,
    and what cannot be read: Spark tells why.
    """
    keyed = {name for keys in alternatives for name in keys}
    if not all(_is_read_alike(types.get(name, "")) for name in {*columns, *keyed}):
        return None
    stored = pa.schema(deltalake.Schema.from_json(table.schema).to_arrow())
    schema = pa.schema([field for field in stored if field.name.lower() in {*columns, *keyed}])
    names = [name for name in schema.names if name.lower() in columns]
    bounds = [_bounds(keys, types) for keys in alternatives]
    files = table.files_with(bounds)
    if _expected_rows(files, bounds) > MOST_ROWS:
        return None
    paths = [Path(path) for path in table.paths(files)]
    try:
        return None if differ_to_arrow(paths, schema) else _read(paths, schema, names, alternatives)
    except (OSError, ValueError, pa.ArrowException) as error:
        logger.info("rows of %s are left to Spark: %s", table.folder, type(error).__name__)
        return None


def with_keys(rows: pa.Table, keys: Keys) -> pa.Table:
    """The rows with all the keys, which are given by names in lower case."""
    actual = {name.lower(): name for name in rows.column_names}
    for name, values in keys.items():
        column = rows.column(actual[name])
        rows = rows.filter(pc.is_in(column, value_set=values.cast(column.type)))
    return rows


def _read(paths: list[Path], schema: pa.Schema, names: list[str], alternatives: Sequence[Keys]) -> pa.Table | None:
    wanted = pa.schema([schema.field(name) for name in names])
    if not paths:
        return wanted.empty_table()
    actual = {name.lower(): name for name in schema.names}
    conditions = [
        reduce(and_, (ds.field(actual[name]).isin(values) for name, values in keys.items()))
        for keys in alternatives
        if keys
    ]
    condition = reduce(or_, conditions) if len(conditions) == len(alternatives) else None
    batches, count, size = [], 0, 0
    for batch in stored_rows(paths, schema).to_batches(columns=names, filter=condition):
        count, size = count + batch.num_rows, size + batch.nbytes
        if count > MOST_ROWS or size > MOST_BYTES:
            return None
        batches.append(batch)
    return pa.Table.from_batches(batches, wanted)


def _is_read_alike(type_: str) -> bool:
    return is_plain(type_) and type_ != "timestamp_ntz"


def _bounds(keys: Keys, types: Mapping[str, str]) -> Bounds:
    """All the keys, to leave out files by."""
    found = []
    for name, values in keys.items():
        known = values_of(pa.chunked_array([values]), types[name], len(values))
        found.append((name, known or ColumnValues(types[name], None, None, None, nulls=False), False))
    return found


def _expected_rows(files: pa.Table, alternatives: Sequence[Bounds]) -> float:
    """Rows of the files with the keys, if all values between the least and the greatest key were as frequent."""
    known = "num_records" in files.column_names
    rows: float = (pc.sum(files.column("num_records")).as_py() or 0) if known else 0
    return min(1.0, sum(min(map(_share, bounds), default=1.0) for bounds in alternatives)) * rows


def _share(bound: tuple[str, ColumnValues, bool]) -> float:
    _, known, _ = bound
    if not known.listed or family(known.type) != "integer":
        return 0.0  # nothing, or it cannot be told before
    spanned: int = known.high - known.low + 1
    return len(known.listed) / spanned
