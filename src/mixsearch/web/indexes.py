"""Indexes that are served: verified and reopened when they change, searched by threads or by other processes.

A search spends most of its time holding the interpreter lock: two threads are not faster than one, two processes are.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Container, Hashable, Mapping, MutableMapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import suppress
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from threading import Thread
from typing import Any

from mixsearch.errors import DamagedFolderError, StorageError
from mixsearch.io.folder import read_manifest
from mixsearch.machine import on_one_core
from mixsearch.report import describe_index
from mixsearch.topics.answers import Question, answer_question
from mixsearch.topics.completion import CorpusWord
from mixsearch.topics.document_map import DocumentPoints, place_in_plane
from mixsearch.topics.index import TopicIndex, open_index, verify_index
from mixsearch.topics.topic import Topic
from mixsearch.web.cache import LRUCache
from mixsearch.web.errors import APIError
from mixsearch.web.processes import process_context
from mixsearch.web.schemas import IndexInfo

# A topic of a large index takes some megabytes.
_N_TOPICS = 16
_MAX_NAME = 80
# Seconds between two looks at the folders.
_INTERVAL = 1.0

_logger = logging.getLogger(__name__)


class ServedIndex:
    """An index under its name.

    The topics found last are cached: groups, the map and further documents are usually requested next.

    Attributes
    ----------
    generation : str
        The state of the index: it changes with every write.
    problem : str or None
        Why a newer state could not be opened, if it could not.
    damage : DamagedFolderError or None
        What is damaged, if the files of this state were verified and have changed. It is not searched any more.
    """

    def __init__(self, name: str, index: TopicIndex) -> None:
        self.name, self.index, self.generation = name, index, index.generation
        self.problem: str | None = None
        self.damage: DamagedFolderError | None = None
        self._topics: LRUCache[Hashable, Topic] = LRUCache(_N_TOPICS)

    @property
    def tag(self) -> str:
        """The generation as an entity tag of HTTP."""
        return f'"{self.generation}"'

    @property
    def trouble(self) -> str | None:
        """The problem of the index, if there is one."""
        return str(self.damage) if self.damage else self.problem

    def check(self) -> None:
        """Raise the damage of the index, if it is known or can be seen without reading."""
        if self.damage is not None:
            raise self.damage
        try:
            self.index.check_files()
        except DamagedFolderError as error:
            self.set_damage(error)
            raise

    def warm_up(self) -> None:
        """Read the vocabulary, which would take longer than the first search."""
        with suppress(StorageError):
            self.check()
            self.index.spell("of the phrase")

    def set_damage(self, damage: DamagedFolderError) -> None:
        """Search this state no more, if the damage is not that of a newer one."""
        if self._find_generation() != self.generation:
            return
        if self.damage is None:
            _logger.error("The index %r is no longer served: %s", self.name, damage)
        self.damage = damage

    def _find_generation(self) -> str | None:
        """Return the generation that is on disk; None if there is none."""
        try:
            return read_manifest(self.index.path).generation
        except StorageError:
            return None

    def find(self, question: Question) -> Topic:
        """Find the topic of a question, or return it from the cache."""
        return self._topics.get_or_compute(question, lambda: self._find(question))

    def _find(self, question: Question) -> Topic:
        answer = answer_question(self.index, question)
        if answer.topic is None:
            assert answer.error is not None
            raise answer.error
        return answer.topic

    def complete_word(self, prefix: str, n: int) -> list[CorpusWord]:
        """Return words that start with a prefix."""
        return self.index.complete_word(prefix, n)

    @property
    def info(self) -> IndexInfo:
        """The contents of the index."""
        return IndexInfo(**describe_index(self.index, self.name))

    @property
    def saved_path(self) -> Path:
        """The file of searches that were saved beside the index."""
        return self.index.path.with_name(f"{self.index.path.name}.saved.json")

    @cached_property
    def document_points(self) -> DocumentPoints:
        """The documents in the plane, computed once."""
        return place_in_plane(self.index.corpus)


def choose_index(indexes: Mapping[str, ServedIndex], name: str) -> ServedIndex:
    """Return the index with this name."""
    if name in indexes:
        indexes[name].check()
        return indexes[name]
    if not indexes:
        raise APIError("not_found", "The server was started without an index.", indexes=[])
    raise APIError(
        "not_found",
        "There is no index {name!r}. The server has {known}.",
        name=name[:_MAX_NAME],
        known=", ".join(indexes),
        indexes=list(indexes),
    )


def check_tag(index: ServedIndex, tags: str) -> None:
    """Raise an error if the entity tags of `If-Match` are of other states of the index.

    A row means another document in another state. Proxies that compress answers make tags weak: these match too.
    """
    wanted = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
    if not wanted & {index.tag, "*"}:
        raise APIError(
            "index_changed", "The index {name!r} has changed since that answer. Search again.", name=index.name
        )


def choose_name(wanted: str, taken: Container[str]) -> str:
    """Return a name that no other index has: with a number, if need be."""
    names = chain([wanted], (f"{wanted}-{copy}" for copy in count(2)))
    return next(name for name in names if name not in taken)


async def watch_indexes(indexes: MutableMapping[str, ServedIndex], interval: float = _INTERVAL) -> None:
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
        if read_manifest(served.index.path).generation == served.generation:
            served.problem = None
            return None
        return ServedIndex(served.name, open_index(served.index.path))
    except StorageError as error:
        if served.problem is None:
            _logger.warning("The index %r is served as it was: %s", served.name, error)
        served.problem = str(error)
        return None


class ReplacedIndexError(Exception):
    """A process cannot open the state of an index that a question is about, since it was replaced on disk."""


# The states of indexes that this process has opened last, if it is a search worker.
INDEXES: dict[str, list[ServedIndex]] = {}
# A question about the old state may still come when the first about the new one is answered.
_N_STATES = 2


def start_search_processes(paths: Mapping[str, str], n_processes: int) -> Executor:
    """Return a pool of processes in which these indexes are open."""
    return ProcessPoolExecutor(n_processes, process_context(), _open_indexes, (dict(paths),))


def call_with_index(name: str, path: str, generation: str, make: Callable[..., bytes], *arguments: Any) -> bytes:
    """Call a function with an index of this process, in the state that the server has opened and in no other."""
    with on_one_core():
        return make(_get_index(name, path, generation), *arguments)


def _get_index(name: str, path: str, generation: str) -> ServedIndex:
    states = INDEXES.setdefault(name, [])
    for served in states:
        if served.generation == generation and str(served.index.path) == path:
            return served
    opened = ServedIndex(name, open_index(path))
    if opened.generation != generation:
        raise ReplacedIndexError(name)
    INDEXES[name] = [opened, *states][:_N_STATES]
    return opened


def _open_indexes(paths: Mapping[str, str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it and ends this process
    Thread(target=_exit_with_server, daemon=True).start()
    for name, path in paths.items():
        with suppress(StorageError):  # the first question about it says why
            INDEXES[name] = [ServedIndex(name, open_index(path))]


def _exit_with_server() -> None:
    """Exit when the server does, even if it was killed."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)
