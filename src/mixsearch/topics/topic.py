"""The topic of a hint: which documents belong to it, what distinguishes their words, and how far to trust it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from mixsearch._typing import Array
from mixsearch.audit import Audit, AuditResult
from mixsearch.core.extraction import extract_by_whitening
from mixsearch.core.moments import Hinted
from mixsearch.core.validation import check_positive_int
from mixsearch.display import Card, pluralize
from mixsearch.errors import AuditError, HintError, SearchWarning
from mixsearch.topics.fitted_corpus import FittedCorpus, Vectors
from mixsearch.topics.hint import Hint, mark_documents
from mixsearch.topics.membership import Calibration, TopicCheck
from mixsearch.topics.score import Scores, score_vectors, top_rows
from mixsearch.topics.tuning import TUNING
from mixsearch.topics.words import Meaning, TopicWord, choose_words, count_members, find_meanings, rank_words

if TYPE_CHECKING:
    from mixsearch.lda import LdaTopic


class TopicComponent(NamedTuple):
    """The component of a mixture that the hint means: the paper's estimate from the third moment.

    Attributes
    ----------
    probabilities : array of shape (d,)
        Its distribution over features.
    weight : float
        α, its share of the mixture.
    separation : float
        The factor by which its score under the hint leads that of the next component.
    """

    probabilities: Array
    weight: float
    separation: float


MATCHES = {"strong": "a strong match", "fair": "a fair match", "weak": "an uncertain match"}


@dataclass(frozen=True, repr=False, eq=False)
class Topic:
    """The topic of a hint. Every number is a sum over `membership`, which is monotone in `scores`.

    Attributes
    ----------
    hint : Hint
        What was asked for.
    scores : array of shape (n,)
        One score per document of the corpus: larger for those that are more about the hint.
    is_probability : bool
        Whether membership is a probability; with fewer than three hint documents, it is a rank from 0 to 1.
    check : TopicCheck
        Where documents of the hint rank when they are left out.
    warnings : tuple of SearchWarning
        Reasons not to trust the answer.

    Examples
    --------
    >>> from mixsearch import TopicSearch
    >>> from mixsearch.datasets import make_reviews
    >>> reviews = make_reviews(1000, random_state=0)
    >>> topic = TopicSearch().fit(reviews.text).search("sushi")
    >>> sorted(word for word, share in topic.top_words(3))
    ['rice', 'sashimi', 'sushi']
    >>> row, membership = topic.documents(1)[0]  # the review that is most about it
    >>> "sushi" in reviews.text[row]
    True
    """

    hint: Hint
    scores: Array
    is_probability: bool
    check: TopicCheck
    warnings: tuple[SearchWarning, ...]
    _corpus: FittedCorpus
    _membership: Array  # (n,)
    _scores: Scores | None  # what it takes to score other documents; None for a topic of the paper's model
    _hint_documents: tuple[Array, Vectors, Array]  # of the corpus: indices, vectors, weights
    _subset: Array | None = field(default=None, kw_only=True)  # which documents are listed and counted, (n,)
    _lda: LdaTopic | None = field(default=None, kw_only=True)  # with the choices of the paper

    # ---- Documents ----

    def membership(self, counts: Any = None) -> Array:
        """Return the probability that documents belong to the topic.

        Parameters
        ----------
        counts : array or sparse matrix of shape (q, d), optional
            Word counts of any documents. By default the documents of the corpus.

        Returns
        -------
        array of shape (q,)
            Monotone in the score. With fewer than three hint documents it is the fraction of documents with lower
            scores instead.
        """
        if counts is None:
            return self._membership
        if self._scores is None:
            assert self._lda is not None
            return np.asarray(self._lda.membership(counts))
        values = score_vectors(self._corpus, self._corpus.place(self._corpus.read_counts(counts)), self._scores)
        order = np.argsort(self.scores, kind="stable")
        return np.interp(values, self.scores[order], self._membership[order])

    @property
    def n_members(self) -> float | None:
        """About how many documents belong to the topic: the sum of membership; None if it is a rank."""
        return float(self.member_weights.sum()) if self.is_probability else None

    @property
    def weight(self) -> float | None:
        """The share of the documents that belong to the topic; None if membership is a rank."""
        return None if self.n_members is None else self.n_members / max(self.n_documents, 1)

    @property
    def n_documents(self) -> int:
        """How many documents are counted."""
        return len(self.scores) if self._subset is None else int(np.count_nonzero(self._subset))

    @property
    def n_containing(self) -> int | None:
        """How many documents contain the words of the hint; None for a hint without words."""
        if not self.hint.terms:
            return None
        return int(np.count_nonzero(self.contains if self._subset is None else self.contains & self._subset))

    @cached_property
    def contains(self) -> Array:
        """Which documents contain words of the hint, (n,)."""
        return mark_documents(self._corpus, self.hint.terms)

    @cached_property
    def order(self) -> Array:
        """The documents that are listed, best first, as indices in the corpus."""
        return self._find_best(self.n_documents)

    def _find_best(self, n: int) -> Array:
        """Return the best documents that are listed, without sorting the others."""
        return self._listed[top_rows(self.scores[self._listed], n)]

    def documents(self, n: int = 10, *, skip: int = 0) -> list[tuple[int, float]]:
        """Return the documents that are most about the topic.

        Parameters
        ----------
        n : int, default=10
            How many.
        skip : int, default=0
            How many of the best to leave out.

        Returns
        -------
        list of (int, float)
            The row of each in the input, and its membership.
        """
        check_positive_int("n", n)
        best = self._find_best(skip + n)[skip:]
        return list(zip(self._corpus.rows[best].tolist(), self._membership[best].tolist(), strict=True))

    def within(self, subset: Array) -> Self:
        """Return the same topic, of which only some documents are listed and counted.

        Parameters
        ----------
        subset : array of bool, shape (n,)
            Which documents.

        Returns
        -------
        Topic
        """
        return replace(self, _subset=np.asarray(subset, dtype=bool))

    @property
    def member_weights(self) -> Array:
        """The membership of documents that are counted, (n,); that of few hint documents counts the best ones."""
        weights = self._membership
        if not self.is_probability:
            weights = np.zeros(len(weights))
            weights[self._find_best(max(2 * len(self._hint_documents[0]), TUNING.few))] = 1
        return weights if self._subset is None else np.where(self._subset, weights, 0)

    # ---- Words ----

    @cached_property
    def _member_counts(self) -> Array:
        """The number of members that contain each feature, (d,)."""
        weights = self._word_weights
        documents = np.flatnonzero(weights > 0)
        return count_members(self._corpus, documents, weights[documents])

    @cached_property
    def _word_weights(self) -> Array:
        """The membership of documents; without words in the hint, that of the best ones is at least 1."""
        weights = self.member_weights
        if not self.hint.terms:
            weights = weights.copy()
            weights[self._find_best(TUNING.n_best)] = 1
        return weights

    def words(self, n: int = 10) -> list[TopicWord]:
        """Return the words that distinguish the members from all documents.

        Parameters
        ----------
        n : int, default=10
            How many at most.

        Returns
        -------
        list of TopicWord
        """
        check_positive_int("n", n)
        if self._lda is not None:
            return self._list_lda_words(n)
        corpus, inside = self._corpus, self._member_counts
        n_inside = max(float(self._word_weights.sum()), 1e-12)
        frequency = corpus.document_frequency[: corpus.n_features]
        ranked = rank_words(inside, n_inside, frequency, corpus.n_documents, TUNING.min_lift)
        return [
            TopicWord(
                corpus.words[column],
                float(min(inside[column] / n_inside, 1)),
                float(inside[column] / n_inside / (frequency[column] / corpus.n_documents)),
            )
            for column in choose_words(corpus, ranked, inside, n)
        ]

    def _list_lda_words(self, n: int) -> list[TopicWord]:
        """Return the words of a topic of the paper's model, with their probabilities."""
        assert self._lda is not None
        mean = self._lda._family.word_mean
        columns = top_rows(self._lda.probabilities, n)
        p, q = self._lda.probabilities[columns], np.maximum(mean[columns], 1e-12)
        return [TopicWord(self._corpus.words[c], float(a), float(a / b)) for c, a, b in zip(columns, p, q, strict=True)]

    def top_words(self, n: int = 10) -> list[tuple[str, float]]:
        """Return the words that distinguish the members, each with the fraction of members that contain it.

        Parameters
        ----------
        n : int, default=10
            How many at most.

        Returns
        -------
        list of (str, float)
        """
        return [(word.word, word.share) for word in self.words(n)]

    @cached_property
    def alternatives(self) -> tuple[Meaning, ...]:
        """What else the hint means: clusters of its documents, the largest first; empty if it means one thing."""
        documents, vectors, weights = self._hint_documents
        positive = np.flatnonzero(weights > 0)
        if self.hint.meaning is not None or len(positive) < len(weights):
            return ()
        return tuple(find_meanings(self._corpus, documents, vectors, self.hint.columns))

    @cached_property
    def component(self) -> TopicComponent:
        """The component by the third moment, contracted with the hint: one eigenvector (paper, Algorithm 1)."""
        if self._lda is not None:
            return TopicComponent(self._lda.probabilities, self._lda.weight, self._lda.separation)
        return extract_component(self._corpus, *self._hint_documents[1:])

    # ---- The audit ----

    def audit(self, n: int = 20) -> Array:
        """Draw documents to judge, from which `judge` estimates how good the answer is.

        Parameters
        ----------
        n : int, default=20
            How many.

        Returns
        -------
        array of int, shape (n,)
            Rows of documents that were not drawn before, in random order.
        """
        return self._corpus.rows[self._listed[self._audit.draw(n)]]

    def judge(self, judgements: Mapping[int, bool | None]) -> AuditResult:
        """Estimate precision, recall and the number of members from all judgements so far.

        Parameters
        ----------
        judgements : mapping from int to bool or None
            For rows of documents, whether each is about the topic; None for one that was skipped.

        Returns
        -------
        AuditResult
            Of the documents that `documents` lists first, as many as are members.
        """
        documents = self._corpus.find_rows(list(judgements))
        is_listed = np.isin(documents, self._listed)
        if not is_listed.all():
            raise HintError(
                "The document in row {row} does not match the filter of this answer. Judge documents that do.",
                code="unknown_row",
                row=list(judgements)[int(is_listed.argmin())],
            )
        positions = np.searchsorted(self._listed, documents)
        try:
            return self._audit.judge(dict(zip(positions.tolist(), judgements.values(), strict=True)))
        except AuditError as error:
            if "row" in error.fields:  # the audit numbers the listed documents
                error.fields["row"] = int(self._corpus.rows[self._listed[error.fields["row"]]])
                error.args = (error.describe(),)
            raise

    @property
    def audited(self) -> AuditResult | None:
        """What the judgements so far say; None before the first. Groups of this topic have intervals by it."""
        audit: Audit | None = self.__dict__.get("_audit")  # not made before it is needed: it sorts all documents
        return None if audit is None else audit.result

    def audit_groups(self, group: Array) -> dict[Any, AuditResult]:
        """Return what the judgements so far say of groups of documents.

        Parameters
        ----------
        group : array of int, shape (n,)
            The number of the group of each document; -1 for one without a group.

        Returns
        -------
        dict
            From the number of a group to its result. Empty without judgements, and if documents with a group are not
            listed.
        """
        is_listed = np.ones(len(group), dtype=bool) if self._subset is None else self._subset
        if self.audited is None or np.any((group >= 0) & ~is_listed):
            return {}
        return self.audited.by(group[self._listed])

    @cached_property
    def _listed(self) -> Array:
        """The documents that are listed, rising, as indices in the corpus."""
        return np.arange(len(self.scores)) if self._subset is None else np.flatnonzero(self._subset)

    @cached_property
    def _audit(self) -> Audit:
        """The audit of the documents that are listed, by their positions among these."""
        n_members = min(max(round(float(self.member_weights.sum())), 1), len(self._listed))
        judged = {
            int(position): is_member
            for documents, is_member in ((self.hint.documents, True), (self.hint.not_documents, False))
            for position in np.flatnonzero(np.isin(self._listed, documents))
        }
        return Audit(self.scores[self._listed], n_members, known=judged)

    # ---- Display ----

    @property
    def sentence(self) -> str:
        """About how many documents belong to the topic, and how sure this is."""
        documents = f"{self.n_documents:,} {pluralize(self.n_documents, 'document')}"
        parts = [
            f"{documents} are ranked; how many belong is unknown"
            if self.n_members is None
            else f"about {format_about(self.n_members)} of {documents}"
        ]
        if self.n_containing is not None:
            contain = pluralize(self.n_containing, "contains", "contain")
            parts.append(f"{self.n_containing:,} {contain} {name_words(self.hint)}")
        sentence = "; ".join([*parts, *([MATCHES[self.check.match]] if self.check.match else [])])
        return f"{sentence[0].upper()}{sentence[1:]}."

    def _card(self) -> Card:
        words = self.words(10)
        facts = [
            ("documents", self.sentence),
            ("check", str(self.check)),
            ("words", ", ".join(word.word for word in words)),
        ]
        if self.alternatives:
            facts.append(("meanings", "; ".join(map(str, self.alternatives))))
        facts += [("warning", str(warning)) for warning in self.warnings]
        bars = [(word.word, word.share) for word in words]
        return Card(f"Topic: {self.hint.words or 'documents like these'}", facts, bars, "share of its documents")

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


def name_words(hint: Hint) -> str:
    """Name what the documents of a hint contain."""
    first = hint.terms[0]
    if len(hint.terms) > 1 or any(len(part) > 1 for part in first.parts):
        return "one of the words"
    if len(first.parts) > 1:
        return "all of the words"
    return "the phrase" if " " in first.text else "the word"


def format_about(n: float) -> str:
    """Format a number of documents to two digits."""
    digits = len(str(int(n)))
    return f"{round(n, min(2 - digits, 0)):,.0f}"


def make_topic(
    corpus: FittedCorpus,
    hint: Hint,
    scores: Scores,
    calibration: Calibration,
    hint_documents: tuple[Array, Vectors, Array],
    warnings: Sequence[SearchWarning],
) -> Topic:
    """Put an answer together: marked documents are members or not, and those with avoided words are not."""
    values, membership = scores.values.astype(np.float64), calibration.membership.copy()
    excluded = mark_documents(corpus, hint.avoided)
    excluded[hint.not_documents] = True
    if excluded.all():
        raise HintError("Every document is to be avoided. Avoid fewer words or documents.", code="all_avoided")
    values[excluded], membership[excluded] = values.min() - 1, 0
    values[hint.documents], membership[hint.documents] = values.max() + 1e-9, 1
    return Topic(
        hint,
        values,
        calibration.is_probability,
        calibration.check,
        tuple(warnings),
        corpus,
        membership,
        scores,
        hint_documents,
    )


def extract_component(corpus: FittedCorpus, vectors: Vectors, weights: Array) -> TopicComponent:
    """Extract the component that a hint means, in the frame W = V D^(-1/2) of the second moment A.

    The third moment of unit tf-idf vectors x, over different words, contracted with the hint is B = Σ w (xx' - diag x²)
    over its documents, so that R = W'BW. The top eigenvector u of R gives the center V D^(1/2) u / ⟨u, W'm⟩ and the
    weight ⟨u, W'm⟩².
    """
    frame = corpus.frame
    root = np.sqrt(frame.values).astype(np.float64)
    W = frame.basis / root
    Z = vectors.coordinates * vectors.norms[:, None] / root
    squares = np.asarray((vectors.tfidf * vectors.tfidf).T @ weights)
    R = (Z * weights[:, None]).T @ Z - (W * squares[:, None]).T @ W
    mean = W.T.astype(np.float64) @ frame.mean
    candidates = extract_by_whitening(Hinted(R, mean, np.zeros(len(mean))))
    center = np.maximum(frame.basis @ (root * candidates.points[:, 0]) / frame.idf, 0)
    total = center.sum()
    return TopicComponent(
        center / total if total > 0 else center, float(candidates.weights[0]), candidates.separation(0)
    )
