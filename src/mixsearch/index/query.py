"""A query: a hint and how to search with it, what was found, and whether it lists the words asked for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mixsearch.errors import DroppedWordWarning, HintError, Option, SearchWarning, WeakHintWarning
from mixsearch.topics.component import Topic, list_alternatives

if TYPE_CHECKING:
    from mixsearch.index.topic_index import TopicIndex

# Other topics that an answer describes.
N_ALTERNATIVES = 3
# Words of a topic that people read.
N_READ = 10


@dataclass(frozen=True)
class Query:
    """A hint, under a name, and how to search with it.

    The hint is `text`, or `words` and `documents`, of which one may be left out.

    Parameters
    ----------
    name : str
        What the answer is called.
    words : mapping of str to float, optional
        Words with weights; negative for words to avoid.
    text : tuple of str, optional
        Texts about the topic.
    documents : tuple of int, optional
        Rows of documents about the topic.
    not_documents : tuple of int, optional
        Rows of documents that are not about it.
    n_components : int or "enough", default="enough"
        How many of the fitted topics to use.
    narrower : float, default=0
        How many times to double that number; negative for a broader topic.
    refine : bool, optional
        Whether to refine the moment estimate. By default the index decides.
    merge_copies : bool or "auto", default="auto"
        Whether near-copies among the documents with the words count less; "auto" unless they are what the words mean.
    where : str, optional
        A filter of the documents that are listed and counted.
    within : bool, default=False
        Whether to search within the documents that match the filter.

    Examples
    --------
    >>> from mixsearch.index import Query
    >>> query = Query("fish", {"sushi": 1, "tuna": 1, "wine": -1}, where="stars <= 2")
    >>> more_like_these = Query("these", documents=(3, 17, 40))
    """

    name: str
    words: Mapping[str, float] | None = None
    text: tuple[str, ...] | None = None
    documents: tuple[int, ...] | None = None
    not_documents: tuple[int, ...] | None = None
    n_components: int | Literal["enough"] = "enough"
    narrower: float = 0.0
    refine: bool | None = None
    merge_copies: bool | Literal["auto"] = "auto"
    where: str | None = None
    within: bool = False

    def __post_init__(self) -> None:
        check_hint(words=self.words, text=self.text, documents=self.documents, not_documents=self.not_documents)

    @property
    def key(self) -> Hashable:
        """The query as a key for caches: equal keys find equal topics."""
        words = None if self.words is None else tuple(self.words.items())
        how = (self.n_components, self.narrower, self.refine, self.merge_copies, self.where, self.within)
        return (self.name, words, self.text, self.documents, self.not_documents, *how)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `TopicIndex.search`."""
        return {
            "words": self.words,
            "text": self.text,
            "documents": self.documents,
            "not_documents": self.not_documents,
            "n_components": self.n_components,
            "narrower": self.narrower,
            "refine": self.refine,
            "merge_copies": self.merge_copies,
            "where": self.where,
            "within": self.within,
        }


@dataclass(frozen=True, eq=False)
class Found:
    """The topic that a query found, with the warnings of the search.

    Parameters
    ----------
    query : Query
        What was asked.
    topic : Topic
        The topic that the hint most likely means.
    warnings : tuple of SearchWarning
        What the search warned about, each message once.
    index : TopicIndex
        The index that was searched.
    """

    query: Query
    topic: Topic
    warnings: tuple[SearchWarning, ...]
    index: TopicIndex = field(repr=False)

    @cached_property
    def readings(self) -> tuple[Topic, ...]:
        """The topic found, and the others that the hint could mean."""
        return (self.topic, *self.topic.alternatives)

    @cached_property
    def first_readings(self) -> tuple[Topic, ...]:
        """The topic found, and as many others as an answer describes."""
        return (self.topic, *list_alternatives(self.topic, N_ALTERNATIVES))

    def choose(self, alternative: int) -> Topic:
        """Return the topic found, or another one that the hint could mean.

        Parameters
        ----------
        alternative : int
            0 for the topic found, else the rank of another one.

        Returns
        -------
        Topic
        """
        if alternative == 0:
            return self.topic
        if not 0 < alternative < len(self.readings):
            raise HintError(
                "Alternative {alternative} does not exist: the hint has {n_alternatives} of them, counted from 1.",
                code="no_such_alternative",
                alternative=alternative,
                n_alternatives=len(self.readings) - 1,
            )
        return self.readings[alternative]


def check_hint(**given: Any) -> dict[str, Any]:
    """Return the parts of a hint, if they go together."""
    hint = {name: value if _is_given(value) else None for name, value in given.items()}
    names = [name for name, value in hint.items() if value is not None]
    if names == ["text"] or (set(names) - {"not_documents"} and "text" not in names):
        return hint
    raise HintError(
        "A search needs words, documents or both, or a text alone, got {given}.",
        code="one_hint_needed",
        given=" and ".join(names) or "none",
    )


def _is_given(value: Any) -> bool:
    # An empty list of documents names none; empty words are an error of their own.
    return value is not None and not (isinstance(value, tuple | list) and len(value) == 0)


def check_listed(index: TopicIndex, query: Query, topic: Topic) -> list[WeakHintWarning]:
    """Return a warning if a topic lists none of the words that were asked for, and one if it lists words to avoid."""
    if any(isinstance(warning, DroppedWordWarning) for warning in topic.warnings):
        return []
    words = {index.spell(word): weight for word, weight in (query.words or {}).items()}
    listed = [word for word, _ in topic.top_words(N_READ)]
    asked = _check_asked(index, [word for word, weight in words.items() if weight > 0], listed)
    return [*asked, *_check_avoided([word for word, weight in words.items() if weight < 0], listed)]


def _check_asked(index: TopicIndex, words: list[str], listed: list[str]) -> list[WeakHintWarning]:
    parts = [part for word in words for part in (word, *word.split())]
    features = [part for part in dict.fromkeys(parts) if "*" in part or "?" in part or index.has_feature(part)]
    if not features or any(fnmatchcase(word, part) for part in features for word in listed):
        return []
    return [
        WeakHintWarning(
            ("{words} is not" if len(words) == 1 else "None of {words} is")
            + " among the first {n_words} words of this topic, so it may be a broader one. Search for a narrower "
            "topic ({argument}), or add a word.",
            code="word_not_listed",
            words=", ".join(map(repr, words)),
            n_words=N_READ,
            argument=Option("narrower=1"),
        )
    ]


def _check_avoided(words: list[str], listed: list[str]) -> list[WeakHintWarning]:
    parts = [part for each in listed for part in (each, *each.split())]
    found = [word for word in words if any(fnmatchcase(part, word) for part in parts)]
    if not found:
        return []
    return [
        WeakHintWarning(
            ("{words} is" if len(found) == 1 else "{words} are")
            + " still among the first {n_words} words of this topic. Add a word that sets it apart from what you want "
            "to avoid.",
            code="avoided_word_listed",
            words=", ".join(map(repr, found)),
            n_words=N_READ,
        )
    ]
