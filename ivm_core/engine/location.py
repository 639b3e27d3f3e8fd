"""One spelling for the place of a table: local paths are plain and absolute, everything else stays a URL."""

from __future__ import annotations

import re
from pathlib import Path


def normalize_location(location: str) -> str:
    """The plain path of a local table, a URL otherwise unchanged.

    >>> normalize_location("file:/data/my table/")
    '/data/my table'
    >>> normalize_location("s3a://bucket/t")
    's3a://bucket/t'
    """
    path = local_path(location)
    return str(path) if path is not None else location


def local_path(location: str) -> Path | None:
    """The local path of a location, None for object stores and other file systems.

    Hadoop's paths look like URLs and are none: ``file:/a%20b`` names a folder with a per cent sign.
    """
    if location.startswith("file:"):
        return Path(re.sub("^file:(//)?", "", location)).absolute()
    if "://" in location:
        return None
    return Path(location).absolute()
