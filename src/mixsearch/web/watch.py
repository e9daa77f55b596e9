"""Indexes that change while they are served: the new state is opened beside the old one, then takes its place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import MutableMapping

from mixsearch.errors import StorageError
from mixsearch.index import open_index
from mixsearch.storage import read_generation
from mixsearch.web.indexes import ServedIndex

# Seconds between two looks at the folders.
INTERVAL = 1.0

_logger = logging.getLogger(__name__)


async def watch_indexes(indexes: MutableMapping[str, ServedIndex], interval: float = INTERVAL) -> None:
    """Reopen indexes that were changed, until the task is cancelled."""
    while True:
        await asyncio.sleep(interval)
        for name in list(indexes):
            # In a thread: a slow disk must not stop the event loop.
            reopened = await asyncio.to_thread(reopen_if_changed, indexes[name])
            if reopened is not None:
                indexes[name] = reopened


def reopen_if_changed(served: ServedIndex) -> ServedIndex | None:
    """Return the new state of an index; None if it has not changed, or cannot be read now.

    An index that is damaged or was removed is served as it was: its files stay open.
    """
    try:
        if read_generation(served.index.path) == served.generation:
            served.problem = None
            return None
        return ServedIndex(served.name, open_index(served.index.path))
    except StorageError as error:
        if served.problem is None:
            _logger.warning("The index %r is served as it was: %s", served.name, error)
        served.problem = str(error)
        return None
