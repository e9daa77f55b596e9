"""Indexes that are served: reopened when they change, searched by threads or by other processes.

A search spends most of its time holding the interpreter lock: two threads are not faster than one, two processes are.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Container, Mapping, MutableMapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from threading import Thread
from typing import Any

from mixsearch.errors import StorageError
from mixsearch.io.folder import read_manifest
from mixsearch.machine import on_one_core
from mixsearch.topics.answers import Question, answer_question
from mixsearch.topics.index import TopicIndex, open_index
from mixsearch.topics.topic import Topic
from mixsearch.web.errors import APIError

# A topic of a large index takes some megabytes.
_N_TOPICS = 16
_MAX_NAME = 80
# Seconds between two looks at the folders.
_INTERVAL = 1.0

_logger = logging.getLogger(__name__)


class ServedIndex:
    """An index under its name.

    Attributes
    ----------
    generation : str
        The state of the index: it changes with every write.
    problem : str or None
        Why a newer state could not be opened, if it could not.
    find : callable
        From a `Question` to its topic. The last ones are kept: groups, the map and further documents are usually
        requested next.
    """

    def __init__(self, name: str, index: TopicIndex) -> None:
        self.name, self.index, self.generation = name, index, index.generation
        self.problem: str | None = None
        self.find: Callable[[Question], Topic] = lru_cache(_N_TOPICS)(self._find)

    def _find(self, question: Question) -> Topic:
        answer = answer_question(self.index, question)
        if answer.error is not None:
            raise answer.error
        assert answer.topic is not None
        return answer.topic

    def warm_up(self) -> None:
        """Read the vocabulary, which would take longer than the first search."""
        with suppress(StorageError):  # the first question says why
            self.index.check_files()
            self.index.spell("of the phrase")

    @property
    def tag(self) -> str:
        """The generation as an entity tag of HTTP."""
        return f'"{self.generation}"'

    @property
    def trouble(self) -> str | None:
        """What is wrong with the index, as far as can be seen without reading it."""
        try:
            self.index.check_files()
        except StorageError as error:
            return str(error)
        return self.problem

    @property
    def saved_path(self) -> Path:
        """The file of searches that were saved beside the index."""
        return self.index.path.with_name(f"{self.index.path.name}.saved.json")


def choose_index(indexes: Mapping[str, ServedIndex], name: str, tags: str | None) -> ServedIndex:
    """Return the index with this name, if its state is one of some entity tags, and its files are whole.

    A row means another document in another state. Proxies that compress answers make tags weak: these match too.
    """
    if name not in indexes:
        raise APIError(
            "not_found",
            "There is no index {name!r}. The server has {known}.",
            name=name[:_MAX_NAME],
            known=", ".join(indexes) or "none",
            indexes=list(indexes),
        )
    index = indexes[name]
    index.index.check_files()  # reading one that was cut would end the process
    if tags is not None and not {index.tag, "*"} & {tag.strip().removeprefix("W/") for tag in tags.split(",")}:
        raise _make_changed(name)
    return index


def _make_changed(name: str) -> APIError:
    return APIError("index_changed", "The index {name!r} has changed since that answer. Search again.", name=name)


def choose_name(wanted: str, taken: Container[str]) -> str:
    """Return a name that no other index has: with a number, if need be."""
    names = chain([wanted], (f"{wanted}-{copy}" for copy in count(2)))
    return next(name for name in names if name not in taken)


async def watch_indexes(indexes: MutableMapping[str, ServedIndex], interval: float = _INTERVAL) -> None:
    """Reopen indexes that were changed, until the task is cancelled."""
    while True:
        await asyncio.sleep(interval)
        for name, served in list(indexes.items()):
            # In a thread: a slow disk must not stop the event loop.
            reopened = await asyncio.to_thread(reopen_if_changed, served)
            if reopened is not None and indexes.get(name) is served:
                indexes[name] = reopened


def reopen_if_changed(served: ServedIndex) -> ServedIndex | None:
    """Return the new state of an index; None if it has not changed, or cannot be read now.

    An index that was removed is served as it was: its files stay open.
    """
    try:
        if read_manifest(served.index.path).generation == served.generation:
            served.problem = None
            return None
        return ServedIndex(served.name, open_index(served.index.path))
    except StorageError as error:
        if served.problem is None:
            _logger.warning("The index %r is served as it was: %s", served.name, error)
        served.problem = str(error)
        return None


# The states of indexes that this process has opened last, if it is a search worker.
INDEXES: dict[str, list[ServedIndex]] = {}
# A question about the old state may still come when the first about the new one is answered.
_N_STATES = 2


def open_in_worker(paths: Mapping[str, str]) -> None:
    """Open indexes in a process that has just started, and read their vocabularies, which takes longest."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it and ends this process
    Thread(target=_exit_with_server, daemon=True).start()
    for name, path in paths.items():
        with suppress(StorageError):  # the first question about it says why
            INDEXES[name] = [ServedIndex(name, open_index(path))]
            INDEXES[name][0].warm_up()


def _exit_with_server() -> None:
    """Exit when the server does, even if it was killed."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def call_with_index(name: str, path: str, generation: str, make: Callable[..., bytes], *arguments: Any) -> bytes:
    """Call a function with an index of this process, in the state that the server has opened and in no other."""
    states = INDEXES.setdefault(name, [])
    for served in states:
        if served.generation == generation and str(served.index.path) == path:
            break
    else:
        served = ServedIndex(name, open_index(path))
        if served.generation != generation:
            raise _make_changed(name)
        INDEXES[name] = [served, *states][:_N_STATES]
    with on_one_core():
        return make(served, *arguments)
