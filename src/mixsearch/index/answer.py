"""The answer to a query as plain data, and the options of how much it describes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from mixsearch.confidence import DOUBTFUL_CONFIDENCE
from mixsearch.core.extraction import DOUBTFUL_SEPARATION

# Warnings about words that were answered from their documents.
DROPPED_CODES = ("word_too_common", "word_too_rare")


@dataclass(frozen=True)
class TopicWord:
    """A word, its probability in the topic, and how many times likelier it is there than in the corpus."""

    word: str
    probability: float
    likelier: float
    probability_stderr: float | None = None


@dataclass(frozen=True)
class RelatedWord:
    """A word that points to the topic, and how many times likelier it is there than in the corpus."""

    word: str
    likelier: float


@dataclass(frozen=True)
class TypicalDocument:
    """A document about the topic; the snippet is None if the index holds no texts."""

    row: int
    name: str | None
    share: float
    snippet: str | None
    title: str | None = None
    link: str | None = None
    date: str | None = None
    columns: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Alternative:
    """Another topic that the hint could mean, and its rank under the hint: 0 is the topic found."""

    rank: int
    words: tuple[str, ...]
    weight: float
    share_of_hint: float


@dataclass(frozen=True)
class SkippedWord:
    """A word of the hint that was not used: why, as a code and as a sentence, and words with a similar spelling."""

    word: str
    suggestions: tuple[str, ...]
    code: str
    message: str


@dataclass(frozen=True)
class AnswerWarning:
    """A warning of the search: a code for programs, a sentence for people, and the facts."""

    code: str
    message: str
    fields: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The topic of one query.

    Parameters
    ----------
    hint : str
        The name of the query.
    alternative : int
        The rank of the topic described: 0 for the one found.
    weight : float
        The topic's share of the corpus.
    n_about, n_about_low, n_about_high : float or None
        How many documents are about the topic, with a 95% interval; None for another topic that the hint could mean.
    n_holding : int or None
        How many documents contain the words of the hint, if it consists of words.
    separation : float or None
        By what factor the topic leads the best other one; None if no other comes near.
    verdict, verdict_code : str
        Whether the topic is about what was asked, as a phrase and as a code: "clear", "likely", "doubtful" or "unclear"
        by the confidence. If that is not known, what the separation means: "clear", "distinct", "close", "ambiguous" or
        "behind".
    share_of_hint : float
        The part of the hint that the topic accounts for.
    n_components, n_fitted : int
        The number of topics that the search used, and that the index has.
    words : tuple of TopicWord
        The words of the topic.
    related_words : tuple of RelatedWord
        Words that point to the topic.
    documents : tuple of TypicalDocument
        The documents that are most about the topic.
    alternatives : tuple of Alternative
        Other topics that the hint could mean.
    weight_stderr : float or None
        The standard error of the weight, if requested.
    confidence : float or None
        The probability that the topic is the one meant; if it takes long, only on request.
    skipped : tuple of SkippedWord
        Words of the hint that are not in the vocabulary.
    warnings : tuple of AnswerWarning
        What to know before trusting the answer.
    where : str or None
        The filter of the documents that are listed and counted.
    within : bool
        Whether the topic was searched within these documents.
    n_matching : int or None
        How many documents match the filter.

    Attributes
    ----------
    is_doubtful : bool
        Whether the alternatives are worth a look.
    """

    hint: str
    alternative: int
    weight: float
    n_about: float | None
    n_about_low: float | None
    n_about_high: float | None
    n_holding: int | None
    separation: float | None
    verdict: str
    verdict_code: str
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
    warnings: tuple[AnswerWarning, ...] = ()
    where: str | None = None
    within: bool = False
    n_matching: int | None = None
    is_doubtful: bool = field(init=False)

    def __post_init__(self) -> None:
        is_weak = self.has_small_lead if self.confidence is None else self.has_low_confidence
        is_doubtful = is_weak or self.has_no_features
        object.__setattr__(self, "is_doubtful", is_doubtful)

    @property
    def lead(self) -> float:
        """The separation as a number: infinite if no other topic comes near."""
        return math.inf if self.separation is None else self.separation

    @property
    def has_small_lead(self) -> bool:
        """Whether another topic comes near."""
        return self.lead < DOUBTFUL_SEPARATION

    @property
    def has_low_confidence(self) -> bool:
        """Whether the confidence is known and low."""
        return self.confidence is not None and self.confidence < DOUBTFUL_CONFIDENCE

    @property
    def has_no_features(self) -> bool:
        """Whether the words of the hint are too common or too rare to be features."""
        return any(warning.code in DROPPED_CODES for warning in self.warnings)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it, always with the same keys.

        Returns
        -------
        dict
        """
        # All tuples hold results of plain values: `dataclasses.asdict` would take ten times as long to find that out.
        return {
            name: tuple(dict(vars(each)) for each in value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
        }


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """Options of an answer.

    Parameters
    ----------
    n_words, n_documents, n_related : int
        How many words, documents and related words to list.
    skip_documents : int, default=0
        How many of the first documents to leave out.
    sort_by : str, optional
        A column whose order the documents about the topic are listed in. By default those most about it come first.
    descending : bool, default=False
        List the largest values of that column first.
    words_by : {"typical", "probability"}, default="typical"
        Which words come first, as in `Topic.top_words`.
    alternative : int, default=0
        0 for the topic found, else the rank of another one that the hint could mean.
    errors : bool, default=False
        Add standard errors.
    confidence : bool, default=False
        Add the probability that the hint means this topic also if that reads all documents.

    Examples
    --------
    >>> from mixsearch.index import AnswerOptions
    >>> options = AnswerOptions(n_words=20, n_documents=5, errors=True)
    """

    n_words: int = 10
    n_documents: int = 5
    n_related: int = 8
    skip_documents: int = 0
    sort_by: str | None = None
    descending: bool = False
    words_by: Literal["typical", "probability"] = "typical"
    alternative: int = 0
    errors: bool = False
    confidence: bool = False
