"""Rows for people to read, whatever bytes their texts hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ivm_core.apply.names import call, col, named, to_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


def shown_rows(frame: DataFrame) -> list[Row]:
    """All rows. Bytes of a text that are no UTF-8 are read as U+FFFD, as a classic session gives them.

    A client of Spark Connect fails to read them; there, values that hold texts within are then shown as one text.
    """
    rows: list[Row]
    try:
        rows = frame.collect()
    except UnicodeDecodeError:
        holds_text = {column.name for column in frame.schema.fields if "string" in column.dataType.simpleString()}
        readable = (
            named(call("make_valid_utf8", to_type(col(name), "string")), name) if name in holds_text else col(name)
            for name in frame.columns
        )
        rows = frame.selectExpr(*(column.sql("spark") for column in readable)).collect()
    return rows
