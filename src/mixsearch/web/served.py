"""An index that is served: opened once, with what the page asks of it beside topics."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mixsearch.index import Asking, Query, Reply, TopicIndex, telling_words
from mixsearch.index.asking import Found, find, reply_to
from mixsearch.index.suggesting import Completions, KnownWord
from mixsearch.web.failures import Refused
from mixsearch.web.shelf import Shelf

N_TELLING, MOST_TELLING = 12, 100
# Topics that are kept; one with error bars and confidence takes some megabytes.
N_KEPT = 16


@dataclass(frozen=True)
class IndexFacts:
    """What an index holds."""

    name: str
    n_documents: int
    n_words: int
    n_components: int
    has_texts: bool
    has_names: bool
    telling_words: tuple[str, ...]


class Served:
    """An index under its name, and the topics that were found in it last: error bars and further documents follow."""

    def __init__(self, name: str, index: TopicIndex) -> None:
        self.name, self.index = name, index
        self._found: Shelf[Hashable, Found] = Shelf(N_KEPT, lambda _: 1)

    def reply(self, query: Query, asking: Asking) -> Reply:
        """What the index says to a query."""
        return reply_to(self.index, query, asking, self._find)

    def _find(self, index: TopicIndex, query: Query, search: Mapping[str, Any]) -> Found:
        asked = (query.key, tuple(sorted(search.items())))
        return self._found.once(asked, lambda: find(index, query, search))

    @cached_property
    def completions(self) -> Completions:
        """The words in the order of a dictionary."""
        return Completions(self.index)

    @cached_property
    def facts(self) -> IndexFacts:
        """What the index holds."""
        return IndexFacts(
            self.name,
            self.index.n_documents,
            len(self.index.vocabulary),
            self.index.n_components,
            self.index.has_texts,
            self.index.has_names,
            tuple(each.word for each in self.telling[:N_TELLING]),
        )

    @cached_property
    def telling(self) -> list[KnownWord]:
        """Words to begin with."""
        words = telling_words(self.index, MOST_TELLING)
        holding = self.index.topics.model_.holding[self.index.topics.columns_of(words)]
        return [KnownWord(word, int(n)) for word, n in zip(words, holding, strict=True)]

    def words(self, prefix: str, n: int) -> list[KnownWord]:
        """Words that begin so; where nothing is typed yet, words to begin with."""
        return self.completions.of(prefix, n) if prefix else self.telling[:n]


def choose(served: Mapping[str, Served], name: str) -> Served:
    """The index of this name."""
    if name not in served:
        known = f"There are {', '.join(served)}" if served else "The server was started without one"
        raise Refused("not_found", f"There is no index {name[:80]!r}. {known}.")
    return served[name]
