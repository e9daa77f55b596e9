"""Cases of `trust.py` with topics: searches for the first of four."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from trust_question import CENTER_LIMIT, Question

from mixsearch import TopicSearch
from mixsearch.datasets import make_topics
from mixsearch.datasets.topics import TopicData

K, ALPHA = 4, 0.2
# The probability in every topic of the words that say nothing.
COMMON = 0.02
N_COMMON = 2
# Damped counts follow no model: an answer is right if it is nearer than this share of the way to the next topic.
HALFWAY = 0.5

Hint = Callable[[TopicData], dict[str, Any]]


@dataclass(frozen=True)
class TopicCase:
    """How a corpus is fitted, and the hint for a topic.

    Right is an answer whose probabilities, summed, are off by at most three times as much as those of least squares on
    the true shares; with damped counts, by at most half the way to the next topic.
    """

    hint: Hint
    n_components: int = K
    damping: bool = False
    refine: bool = False
    concentration: float = 0.1
    has_answer: bool = True

    def __call__(self, seed: int) -> Question:
        """Draw the corpus and the hint."""
        data = draw_topics(seed, self.concentration)
        model = {} if self.damping else {"alpha0": ALPHA * K}
        search = TopicSearch(self.n_components, damping=self.damping, **model)
        return Question(
            ask=lambda: search.fit(data.counts).search(**self.hint(data), refine=self.refine),
            is_right=lambda found: self._is_right(found, data),
            has_answer=self.has_answer,
        )

    def _is_right(self, found: Any, data: TopicData) -> bool:
        errors = np.abs(data.topics - found.probabilities).sum(axis=1)
        if self.damping:
            return bool(errors[0] <= HALFWAY * np.abs(data.topics[1:] - data.topics[0]).sum(axis=1).min())
        return bool(errors[0] <= CENTER_LIMIT * np.abs(data.oracle()[0] - data.topics[0]).sum())


def draw_topics(seed: int, concentration: float) -> TopicData:
    """Draw a corpus whose last words are equally likely in all topics."""
    data = make_topics(2_000, 100, K, mean_length=50, alpha=ALPHA, concentration=concentration, random_state=seed)
    # Counts of a Poisson number of words are independent Poisson variables.
    common = np.random.default_rng(seed).poisson(50 * COMMON, (data.counts.shape[0], N_COMMON))
    scale = 1 + N_COMMON * COMMON
    return TopicData(
        sp.csr_array(sp.hstack([data.counts, common])),
        np.hstack([data.topics, np.full((K, N_COMMON), COMMON)]) / scale,
        data.alpha,
        data.shares,
        [*data.vocabulary, *(f"common{i}" for i in range(N_COMMON))],
    )


def word(data: TopicData) -> dict[str, Any]:
    return {"words": data.labelled_word(0)}


def two_words(data: TopicData) -> dict[str, Any]:
    """The two words of the topic that are likeliest to be of it."""
    odds = data.topics[0] / (data.topics[1:].max(axis=0) + COMMON)
    return {"words": np.argsort(-odds)[:2].tolist()}


def words_of_two_topics(data: TopicData) -> dict[str, Any]:
    return {"words": [data.labelled_word(0), data.labelled_word(1)]}


def common_word(data: TopicData) -> dict[str, Any]:
    return {"words": len(data.vocabulary) - 1}


def common_words(data: TopicData) -> dict[str, Any]:
    return {"words": [len(data.vocabulary) - 1 - i for i in range(N_COMMON)]}


def documents(data: TopicData) -> dict[str, Any]:
    """The three documents with most of the topic."""
    return {"documents": np.argsort(-data.shares[:, 0])[:3]}


def documents_of_two_topics(data: TopicData) -> dict[str, Any]:
    best = [np.argsort(-data.shares[:, topic])[:3] for topic in (0, 1)]
    return {"documents": np.concatenate(best)}


def _cases() -> dict[str, TopicCase]:
    hints: dict[str, tuple[Hint, bool]] = {
        "one word": (word, True),
        "two words": (two_words, True),
        "a word equally frequent in all topics": (common_word, False),
        "two words equally frequent in all topics": (common_words, False),
        "two words of two topics": (words_of_two_topics, False),
        "three documents": (documents, True),
        "three documents each of two topics": (documents_of_two_topics, False),
    }
    fits: dict[str, dict[str, bool]] = {
        "": {},
        ", refined": {"refine": True},
        ", as text (damped, local EM)": {"damping": True, "refine": True},
    }
    cases = {
        f"{name}{suffix}": TopicCase(hint, has_answer=has_answer, **fit)
        for suffix, fit in fits.items()
        for name, (hint, has_answer) in hints.items()
    }
    return cases | {
        "k=2 for 4 topics": TopicCase(word, n_components=2),
        "k=2 for 4 topics, refined": TopicCase(word, n_components=2, refine=True),
        "k=3 for 4 topics": TopicCase(word, n_components=3),
        "k=5 for 4 topics": TopicCase(word, n_components=5),
    }


CASES = _cases()
# Why a row cannot hold.
REASONS = {
    "k=3": "right and wrong answers have about the same share of their hint in directions that were left out",
}
