"""What a search is asked and what it answers, as plain data: for a terminal, a file or a page."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mixsearch.errors import SearchError
from mixsearch.estimators import Topic

# The separation below which the alternatives are worth a look.
DOUBTFUL = 1.5
# And the confidence below which they are.
UNSURE = 0.8


@dataclass(frozen=True)
class Query:
    """One hint: words with weights, texts, or rows of documents."""

    name: str  # as it was given
    words: Mapping[str, float] | None = None
    texts: tuple[str, ...] | None = None
    rows: tuple[int, ...] | None = None

    @property
    def key(self) -> Hashable:
        """What tells it from others, whatever it is called."""
        return (None if self.words is None else tuple(self.words.items()), self.texts, self.rows)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How to search, and how much of the answer to tell.

    Parameters
    ----------
    n_words, n_documents, n_related : int
        How many words, documents and related words to tell.
    skip_documents : int
        How many documents were told before.
    by : {"typical", "probability"}
        Which words come first, as `Topic.top_words` has it.
    alternative : int
        0 for the topic found; else the rank of another that the hint could mean.
    errors : bool
        Tell standard errors as well.
    confidence : bool
        Tell the chance that this is the topic that the hint means; it reads all documents.
    search : dict
        Further arguments of `TopicIndex.search`: n_components, narrower, refine.
    """

    n_words: int = 10
    n_documents: int = 5
    n_related: int = 8
    skip_documents: int = 0
    by: str = "typical"
    alternative: int = 0
    errors: bool = False
    confidence: bool = False
    search: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TopicWord:
    """A word, its probability in the topic, and how many times likelier that is than in the corpus."""

    word: str
    probability: float
    likelier: float
    probability_stderr: float | None = None  # where errors were asked for


@dataclass(frozen=True)
class RelatedWord:
    """A word that points to the topic, and how many times likelier it is there."""

    word: str
    likelier: float


@dataclass(frozen=True)
class TypicalDocument:
    """A document that is about the topic; the snippet is None where texts were not kept."""

    row: int
    name: str | None
    share: float
    snippet: str | None


@dataclass(frozen=True)
class Alternative:
    """Another topic that the hint could mean, and its rank under it: 0 is the topic found."""

    rank: int
    words: tuple[str, ...]
    weight: float
    share_of_hint: float


@dataclass(frozen=True)
class SkippedWord:
    """A word of the hint that the corpus does not have, and words that are spelt alike."""

    word: str
    suggestions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """All that one hint found.

    Attributes
    ----------
    hint : str
        As it was given.
    weight : float
        The topic's share of the corpus.
    alternative : int
        The rank of the topic told: 0 for the one found.
    separation : float or None
        By what factor the topic leads the best other one; None where no other comes near.
    is_doubtful : bool
        Whether the alternatives are worth a look.
    n_components, n_fitted : int
        Topics that the search used, and those that the index has.
    weight_stderr, confidence : float or None
        The standard error of the weight, and the chance that this is the topic that the hint means, where errors were
        asked for.
    words, related_words, documents, alternatives : tuples
        Those that say most come first.
    skipped : tuple of SkippedWord
        Words of the hint that the corpus does not have.
    warnings : tuple of str
        What the user should know before trusting it.
    """

    hint: str
    alternative: int
    weight: float
    separation: float | None
    verdict: str
    share_of_hint: float
    n_components: int
    n_fitted: int
    words: tuple[TopicWord, ...]
    related_words: tuple[RelatedWord, ...]
    documents: tuple[TypicalDocument, ...]
    alternatives: tuple[Alternative, ...]
    weight_stderr: float | None = None
    confidence: float | None = None
    skipped: tuple[SkippedWord, ...] = ()
    warnings: tuple[str, ...] = ()
    is_doubtful: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_doubtful", self.lead < DOUBTFUL or self.is_unsure)

    @property
    def lead(self) -> float:
        """The separation as a number: infinite where no other topic comes near."""
        return math.inf if self.separation is None else self.separation

    @property
    def is_unsure(self) -> bool:
        """Whether the confidence is known, and low."""
        return self.confidence is not None and self.confidence < UNSURE

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON has it: the same keys always."""
        return asdict(self)


@dataclass(frozen=True)
class Reply:
    """What became of a query: an answer with its topic, or the sentence that says why there is none."""

    query: Query
    answer: Answer | None = None
    topic: Topic | None = None
    error: SearchError | None = None
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON has it, or the hint and its error."""
        return {"hint": self.query.name, "error": str(self.error)} if self.answer is None else self.answer.as_dict()
