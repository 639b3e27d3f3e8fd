"""Which files and rows of a state a batch may touch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from pathlib import Path

import deltalake
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ivm_core.engine.file_bounds import may_hold
from ivm_core.engine.log_files import ODD, stored_rows
from ivm_core.engine.small import HERE

MOST_BYTES = (
    512 * 1024**2
)  # of files that this process writes anew in one batch; in memory they take several times that
MOST_FILES = 256
MOST_HELD = 1024**3  # of stored rows in memory at a time


@dataclass(frozen=True, slots=True)
class Left:
    """The rows of one file that a batch does not touch, read again when they are written: ``others`` tells which."""

    stored: ds.Dataset
    others: pa.ChunkedArray
    decoded_bytes: int

    def rows(self) -> pa.Table:
        """Read them."""
        return self.stored.to_table().filter(self.others)

    @property
    def number(self) -> int:
        """How many there are."""
        return int(pc.sum(self.others).as_py() or 0)


@dataclass(frozen=True, slots=True)
class Apart:
    """The rows of some files: those that a batch may touch, and the others, which are held as long as they are not too many.

    All other files hold no row that it touches.
    """

    shown: pa.Table
    aside: pa.Table
    files: tuple[tuple[str, int], ...]  # path in the table, bytes
    left: tuple[Left, ...] = ()


def files_of(table: deltalake.DeltaTable) -> tuple[tuple[str, int], ...]:
    """The paths of the table's files, and their bytes."""
    return _named(pa.table(table.get_add_actions(flatten=True)))


def _named(actions: pa.Table) -> tuple[tuple[str, int], ...]:
    return tuple(zip(actions.column("path").to_pylist(), actions.column("size_bytes").to_pylist(), strict=True))


def take_files_apart(
    folder: Path, table: deltalake.DeltaTable, schema: pa.Schema, batch: pa.Table, keys: Sequence[str]
) -> Apart | None:
    """The stored rows whose every key is among the batch's values of that column, and those beside them in their files.

    None where all keys are of types that are not compared here, and where there is more than this process should read.
    """
    actions, values = pa.table(table.get_add_actions(flatten=True)), values_of_keys(schema, batch, keys)
    files = _named(actions)
    if not values or len(files) > MOST_FILES or any(ODD.search(path) for path, _ in files):
        return None
    found, shown, aside = [], [schema.empty_table()], [schema.empty_table()]
    left: list[Left] = []
    # Small files first: held, they are written together.
    may = [may_hold(actions, key, among, nulls=among.null_count > 0, counted=True) for key, among in values.items()]
    for path, size in sorted(compress(files, np.logical_and.reduce(may)), key=lambda file: file[1]):
        stored = stored_rows([folder / path], schema)
        touched, number = touched_rows(partial(_column, stored), values, enough=2 * batch.num_rows)
        if number == 0:
            continue
        found.append((path, size))
        held, decoded = sum(part.nbytes for part in (*shown, *aside)), decoded_bytes(folder / path)
        if sum(size for _, size in found) > MOST_BYTES or held + decoded > MOST_HELD:
            return None
        rows, others = stored.to_table(), pc.invert(touched)
        shown.append(rows.filter(touched))
        if held + decoded <= MOST_HELD // 2:
            aside.append(rows.filter(others))
        else:
            left.append(Left(stored, others, decoded))
        if sum(part.num_rows for part in shown) > HERE:
            return None
    return Apart(pa.concat_tables(shown), pa.concat_tables(aside), tuple(found), tuple(left))


def decoded_bytes(file: Path) -> int:
    """How much memory the file's rows take at least: before compression, as its footer has it."""
    footer = pq.read_metadata(file)
    return sum(footer.row_group(number).total_byte_size for number in range(footer.num_row_groups))


def _column(stored: ds.Dataset, name: str) -> pa.ChunkedArray:
    return stored.to_table(columns=[name]).column(name)


def values_of_keys(state: pa.Schema, batch: pa.Table, keys: Sequence[str]) -> dict[str, pa.Array]:
    """The batch's values of each key as the state has them, NULL too; those that tell most rows apart first.

    Keys of types that are not compared here are left out: without them only more rows may be found.
    """
    actual = {name.lower(): name for name in batch.column_names}
    values = {}
    for key in keys:
        name = actual.get(key.lower())
        if name is not None and _comparable(state.field(key).type, batch.schema.field(name).type):
            values[key] = batch.column(name).unique().cast(state.field(key).type)
    return dict(sorted(values.items(), key=lambda item: -len(item[1])))


def touched_rows(
    read: Callable[[str], pa.ChunkedArray], values: Mapping[str, pa.Array], enough: int
) -> tuple[pa.ChunkedArray, int]:
    """Of each row whether its keys, of which there is at least one, occur among the values of that column, and how many do.

    ``read`` gives a column. It is not asked for further ones where the first leave no more rows than are ``enough``.
    """
    touched, rows = None, 0
    for key, among in values.items():
        found = pc.is_in(read(key), value_set=among)
        touched = found if touched is None else pc.and_(touched, found)
        rows = pc.sum(touched).as_py() or 0
        if rows <= enough:
            break
    assert touched is not None, "there is at least one key"
    return touched, rows


def _comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """Equal in Spark and equal here mean the same, as they do not of floating-point numbers."""
    if pa.types.is_floating(one) or pa.types.is_nested(one):
        return False
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other):
        return one.unit == other.unit and (one.tz is None) == (other.tz is None)
    return bool(one == other) or (_is_text(one) and _is_text(other))


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))
