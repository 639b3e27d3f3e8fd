"""The change feed of a table on a local path, read by this process: for few rows 10 ms, where a query takes most of a second.

Only of tables that delta-rs reads as Delta does, whose columns are the same at both ends of the range. Where the feed was
off in between, delta-rs refuses as Delta does.
"""

from __future__ import annotations

import json
import logging
import re

import deltalake
import pyarrow as pa

from ivm_core.batch.model import TableRange
from ivm_core.engine.location import normalize_location
from ivm_core.engine.log_files import open_alike
from ivm_core.engine.model import Relation
from ivm_core.engine.small import HERE

logger = logging.getLogger(__name__)

CHANGE_TYPE = "_change_type"
_PLAIN = frozenset(
    {"string", "long", "integer", "short", "byte", "boolean", "binary", "date", "timestamp", "float", "double"}
)
# Features that change nothing about which rows a file or a change file holds, or how they are read.
_FEATURES = frozenset({"appendOnly", "changeDataFeed", "checkConstraints", "domainMetadata", "invariants"})
_ODD = re.compile(r"[%*?\[\]{}\\,:]")  # delta-rs decodes the first twice and cannot open the rest


def read_feed(relation: Relation, covered: TableRange) -> pa.Table | None:
    """The rows of the range's change feed with all stored columns and ``CHANGE_TYPE``; None where it is left to Spark.

    That is also where they are more than this process holds, and where reading them fails: Spark tells why.
    """
    before, after = (
        open_alike(normalize_location(relation.location), version, _FEATURES, _ODD)
        for version in (covered.from_version, covered.to_version)
    )
    if before is None or after is None or not _readable(before, after):
        return None
    try:
        reader = after.load_cdf(starting_version=covered.from_version + 1, ending_version=covered.to_version)
        batches, rows = [], 0
        for batch in reader:
            found = pa.record_batch(batch)
            rows += found.num_rows
            if rows > HERE:
                return None
            batches.append(found)
    except Exception as error:  # delta-rs passes on what its file reader meets as just that
        logger.info("the change feed of %s is left to Spark: %s", relation.name, type(error).__name__)
        return None
    stored = pa.schema(after.schema().to_arrow())
    schema = stored.append(pa.field(CHANGE_TYPE, pa.string()))
    if not batches:
        return schema.empty_table()
    return pa.Table.from_batches(batches).select(schema.names).cast(schema)


def _readable(before: deltalake.DeltaTable, after: deltalake.DeltaTable) -> bool:
    """One table with one set of plain columns, whose feed is on."""
    tables = (before, after)
    if before.metadata().id != after.metadata().id or before.schema() != after.schema():
        return False
    if any(table.metadata().configuration.get("delta.enableChangeDataFeed") != "true" for table in tables):
        return False
    if "char(" in json.dumps(json.loads(after.schema().to_json())):
        return False
    types = [getattr(field.type, "type", "") for field in after.schema().fields]
    return all(name in _PLAIN or name.startswith("decimal") for name in types)
