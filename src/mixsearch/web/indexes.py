"""Indexes that are served, each from one state until it is opened again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, MutableMapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from mixsearch.errors import StorageError
from mixsearch.io.folder import read_manifest
from mixsearch.topics.answers import Question, answer_question
from mixsearch.topics.index import TopicIndex, open_index
from mixsearch.topics.topic import Topic
from mixsearch.web.errors import APIError

# A topic of a large index takes some megabytes.
_N_TOPICS = 16
_MAX_NAME = 80
# A process keeps so many states of indexes open: a question about the old one may come after the first about the new.
_N_STATES = 16

_logger = logging.getLogger(__name__)


class State(NamedTuple):
    """One state of an index: its generation changes with every write."""

    name: str
    path: Path
    generation: str


class ServedIndex:
    """An index under its name.

    Attributes
    ----------
    problem : str or None
        Why a newer state could not be opened, if it could not.
    find : callable
        From a `Question` to its topic. The last ones are kept: groups, the map and further documents are usually
        requested next.
    """

    def __init__(self, name: str, index: TopicIndex) -> None:
        self.name, self.index = name, index
        self.state = State(name, index.path, index.generation)
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
        return f'"{self.state.generation}"'

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


class StateGoneError(Exception):
    """An index is in another state by now."""


@lru_cache(_N_STATES)
def open_state(state: State) -> ServedIndex:
    """Open an index in a state and in no other."""
    served = ServedIndex(state.name, open_index(state.path))
    if served.state != state:
        raise StateGoneError
    return served


def get_newest(indexes: MutableMapping[str, ServedIndex], name: str) -> ServedIndex:
    """Return an index in its newest state that can be read: one that was removed is served as it was."""
    served = indexes[name]
    try:
        if read_manifest(served.state.path).generation != served.state.generation:
            served = indexes[name] = ServedIndex(name, open_index(served.state.path))
        served.problem = None
    except StorageError as error:
        if served.problem is None:
            _logger.warning("The index %r is served as it was: %s", name, error)
        served.problem = str(error)
    return served


def choose_index(indexes: MutableMapping[str, ServedIndex], name: str, tags: str | None) -> ServedIndex:
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
    index = get_newest(indexes, name)
    index.index.check_files()  # reading one that was cut would end the process
    if tags is not None and not {index.tag, "*"} & {tag.strip().removeprefix("W/") for tag in tags.split(",")}:
        sentence = "The index {name!r} has changed since that answer. Search again."
        raise APIError("index_changed", sentence, name=name)
    return index


def choose_name(wanted: str, taken: Container[str]) -> str:
    """Return a name that no other index has: with a number, if need be."""
    names = chain([wanted], (f"{wanted}-{copy}" for copy in count(2)))
    return next(name for name in names if name not in taken)
