"""One spelling for the place of a table: local paths are plain and absolute, everything else stays a URL."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit


def normalize_location(location: str) -> str:
    """The plain path of a local table, a URL otherwise unchanged.

    >>> normalize_location("file:/data/my%20table/")
    '/data/my table'
    >>> normalize_location("s3a://bucket/t")
    's3a://bucket/t'
    """
    path = local_path(location)
    return str(path) if path is not None else location


def local_path(location: str) -> Path | None:
    """The local path of a location, None for object stores and other file systems.

    Spark writes local locations as percent-encoded URLs (``file:/a%20b``); a plain path is taken as it is.
    """
    if location.startswith("file:"):
        return Path(unquote(urlsplit(location).path)).absolute()
    if "://" in location:
        return None
    return Path(location).absolute()
