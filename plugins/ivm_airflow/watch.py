"""Watch a table's Delta log from the triggerer, without a JVM: a new version is an event of the table's asset."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

logger = logging.getLogger(__name__)

VERSION_DIGITS = 20
KEY = "ivm_version"  # in the asset's state store: the version that was told of last


class DeltaLogTrigger(BaseEventTrigger):
    """Yields an event for each new version of the Delta table at ``location``; several that came at once are one.

    After a restart of the triggerer what was committed meanwhile is told once. A run that finds nothing to do skips.
    ``group``: whose asset it tells of; Airflow makes one trigger of two that have the same parameters, and such a one, of
    two assets, has no memory.
    """

    def __init__(self, location: str, every_seconds: float = 30.0, group: str = "") -> None:
        super().__init__()
        self.location, self.every_seconds, self.group = location, every_seconds, group

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{type(self).__module__}.{type(self).__qualname__}", {
            "location": self.location,
            "every_seconds": self.every_seconds,
            "group": self.group,
        }

    async def run(self) -> AsyncIterator[TriggerEvent]:
        told = await self._told()
        while True:
            try:
                version = await asyncio.to_thread(newest_version, self.location)
            except Exception as error:  # storage that does not answer now may do so next time
                logger.warning("%s cannot be looked at: %s", self.location, type(error).__name__)
                version = None
            if version is not None and version != told:
                yield TriggerEvent({"location": self.location, "version": version})
                told = version
                await self._remember(version)
            await asyncio.sleep(self.every_seconds)

    async def _told(self) -> int | None:
        try:
            value = await self.asset_state_store.aget(KEY) if self.asset_state_store is not None else None
        except Exception as error:
            logger.info("no memory of %s: %s", self.location, type(error).__name__)
            return None
        return value if isinstance(value, int) else None

    async def _remember(self, version: int) -> None:
        try:
            if self.asset_state_store is not None:
                await self.asset_state_store.aset(KEY, version)
        except Exception as error:  # then a restart tells of it once more
            logger.info("%s at version %d is not remembered: %s", self.location, version, type(error).__name__)


def newest_version(location: str) -> int | None:
    """The newest version in the table's log, None where there is none: from file names where they are on this machine."""
    path = location.removeprefix("file://").removeprefix("file:")
    if "://" not in path:
        names = (entry.name for entry in Path(path, "_delta_log").glob("*.json"))
        versions = [
            int(name[:VERSION_DIGITS]) for name in names if name[:-5].isdigit() and len(name) == VERSION_DIGITS + 5
        ]
        return max(versions, default=None)
    import deltalake

    return int(deltalake.DeltaTable(location).version())
