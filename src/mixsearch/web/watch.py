"""Indexes while they are served: verified once and whenever a file was touched, and reopened when they change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import MutableMapping

from mixsearch.errors import DamagedFolderError, StorageError
from mixsearch.index import open_index, verify_index
from mixsearch.storage import read_generation
from mixsearch.web.indexes import ServedIndex

# Seconds between two looks at the folders.
INTERVAL = 1.0

_logger = logging.getLogger(__name__)


async def watch_indexes(indexes: MutableMapping[str, ServedIndex], interval: float = INTERVAL) -> None:
    """Verify indexes, and reopen those that were changed, until the task is cancelled."""
    verified: dict[str, tuple[str, tuple[int, ...]]] = {}
    tasks: set[asyncio.Task[None]] = set()  # a task that nobody holds may end at any time
    while True:
        await asyncio.sleep(interval)
        for name in list(indexes):
            served = indexes.get(name)
            if served is None:  # it was removed meanwhile
                continue
            # In a thread: a slow disk must not stop the event loop.
            state = (served.generation, await asyncio.to_thread(served.index.file_times))
            if verified.get(name) != state:
                verified[name] = state
                task = asyncio.create_task(asyncio.to_thread(verify, served))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            reopened = await asyncio.to_thread(reopen_if_changed, served)
            if reopened is not None and indexes.get(name) is served:
                indexes[name] = reopened


def verify(served: ServedIndex) -> None:
    """Compare every byte of an index with its checksums. One that has changed is not searched until it is restored."""
    try:
        verify_index(served.index.path)
        served.damage = None
    except DamagedFolderError as error:
        served.set_damage(error)
    except StorageError:
        pass  # it was replaced or removed meanwhile, which the next look will tell


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
