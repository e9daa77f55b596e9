"""An index that is served: opened once, with what the page asks of it beside topics."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

from mixsearch.errors import SearchError
from mixsearch.index import AnswerOptions, CorpusWord, Found, Outcome, Query, TopicIndex
from mixsearch.web.failures import Refused
from mixsearch.web.shelf import Shelf

N_DISTINCTIVE, MAX_DISTINCTIVE = 12, 100
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
    distinctive_words: tuple[str, ...]


class Served:
    """An index under its name, and the topics that were found in it last: error bars and further documents follow."""

    def __init__(self, name: str, index: TopicIndex) -> None:
        self.name, self.index = name, index
        self._found: Shelf[Hashable, Found] = Shelf(N_KEPT, lambda _: 1)

    def reply(self, query: Query, options: AnswerOptions) -> Outcome:
        """What the index says to a query."""
        try:
            found = self._found.once(query.key, lambda: self.index.find(query))
            return Outcome.from_found(found, options)
        except SearchError as error:
            return Outcome(query, error=error)

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
            tuple(each.word for each in self.distinctive_words[:N_DISTINCTIVE]),
        )

    @cached_property
    def distinctive_words(self) -> list[CorpusWord]:
        """Words to begin with."""
        return self.index.distinctive_words(MAX_DISTINCTIVE)

    def words(self, prefix: str, n: int) -> list[CorpusWord]:
        """Words that begin so; where nothing is typed yet, words to begin with."""
        return self.index.complete_word(prefix, n) if prefix else self.distinctive_words[:n]


def choose(served: Mapping[str, Served], name: str) -> Served:
    """The index of this name."""
    if name not in served:
        known = f"There are {', '.join(served)}" if served else "The server was started without one"
        raise Refused("not_found", f"There is no index {name[:80]!r}. {known}.")
    return served[name]
