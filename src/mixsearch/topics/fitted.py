"""A fit of topics that is open for searches, with or without an estimator around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.component import add_warnings
from mixsearch.core.extraction import Extraction
from mixsearch.core.family import F, Preset
from mixsearch.core.spectrum import Spectrum
from mixsearch.core.validation import (
    FLOAT_DTYPES,
    check_choice,
    check_one_hint,
    check_positive_int,
    check_samples,
    hint_from_direction,
)
from mixsearch.display import pluralize
from mixsearch.errors import ArgumentError, Coded, Option, SearchWarning
from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder
from mixsearch.machine import one_blas_thread
from mixsearch.mixture.em import EMOptions, check_em_options
from mixsearch.mixture.tuning import TUNING as EM_TUNING
from mixsearch.topics.component import Topic, keep_documents
from mixsearch.topics.counts import as_counts
from mixsearch.topics.documents import PlacedFamily, pick_documents
from mixsearch.topics.dropped import DroppedWords
from mixsearch.topics.hint import DroppedHint, WordHint, Words, are_words, hint_from_words
from mixsearch.topics.marked import NO_DOCUMENTS, MarkedDocuments, mark_documents, match_dropped
from mixsearch.topics.old_lda import TUNING as LDA_TUNING
from mixsearch.topics.options import TopicOptions, are_texts, check_options, resolve_options
from mixsearch.topics.query import TopicQuery, count_enough, index_documents
from mixsearch.topics.seeds import check_phrases
from mixsearch.topics.storage import restore_fit


class FittedMixture(Generic[F]):
    """A mixture that was fitted. An estimator is one once it is fitted."""

    preset: Preset
    _family: F

    def _check_fitted(self) -> None:
        """Raise unless there is a fit."""

    def _is_paper(self) -> bool:
        check_choice("preset", self.preset, ("default", "paper"))
        return self.preset == "paper"

    def _select_family(self, n_components: int | None) -> F:
        """Return the fit, or its first components only."""
        self._check_fitted()
        if n_components is None:
            return self._family
        check_positive_int("n_components", n_components)
        if n_components > self.n_components_:
            raise ArgumentError(
                "{argument}={value}, but this fit has {n_fitted} "
                + pluralize(self.n_components_, "component")
                + ". A search can use at most that many; fit "
                "again for more.",
                code="too_many_components",
                argument=Option("n_components"),
                value=n_components,
                n_fitted=self.n_components_,
            )
        family: Any = self._family  # of a kind whose frames are nested
        first: F = family.take(n_components)
        return first

    @property
    def n_components_(self) -> int:
        """The number of components of the fit."""
        return self._family.n_components


class FittedTopics(FittedMixture[PlacedFamily]):
    """Topics of a corpus: hints in, topics out.

    Attributes
    ----------
    n_components_ : int
        The number of topics of the fit.
    spectrum_ : Spectrum
        What ``n_components="auto"`` counted.
    vocabulary_ : list of str or None
        The words, one per column.
    n_features_in_, n_dropped_ : int
        The number of columns, and of documents that were too short for the fit.
    """

    vocabulary_: list[str] | None
    spectrum_: Spectrum
    n_features_in_: int
    n_dropped_: int
    _columns: dict[str, int] | None
    _options: TopicOptions
    _dropped: DroppedWords | None = None  # words of a stored corpus that are not features

    def _set_vocabulary(self, vocabulary: list[str] | None) -> None:
        self.vocabulary_ = vocabulary
        self._columns = None if vocabulary is None else {word: column for column, word in enumerate(vocabulary)}

    @property
    def kept_rows_(self) -> Array:
        """The rows of X that were fitted, (n,), if X was in memory."""
        segments = self._family.segments
        return segments[0].rows if len(segments) == 1 else np.concatenate([each.rows for each in segments])

    def search(
        self,
        hint: ArrayLike | Words | None = None,
        *,
        words: Words | None = None,
        documents: SamplesLike | Sequence[int] | None = None,
        not_documents: Sequence[int] | None = None,
        n_components: int | Literal["enough"] | None = None,
        narrower: float = 0,
        project: bool = False,
        refine: bool | None = None,
        tol: float = 0.01,
        max_iter: int | None = None,
        max_documents: int | None = None,
        merge_copies: bool | Literal["auto"] = "auto",
        choose: Literal["largest", "share"] | None = None,
        rehint: bool = False,
    ) -> Topic:
        """Find the topic that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), or words, optional
            A weight for every word; or words, as in the next argument.
        words : str, sequence of str, or mapping of str to float, optional
            One word, several, or words with weights: negative for words that the topic should avoid. ``"new york"`` is
            a phrase, and ``"encrypt*"`` means all words that start with "encrypt". A column number stands for its word.
            Unknown words are skipped with a warning if others are known.
        documents : sequence of int, counts of shape (q, d), or sequence of str, optional
            Rows of the fitted corpus, or other documents, that are mostly about the topic; texts if texts were fitted.
            With `words`, both are used.
        not_documents : sequence of int, optional
            Rows of the fitted corpus that are not about the topic, in addition to words or documents that are. They are
            not listed among its documents.
        n_components : int or "enough", optional
            Use the first j of the fitted topics only: fewer give broader topics. "enough" uses as many as keep four
            fifths of the projection of the words onto all of them, and makes local EM narrower the rarer the words are.
        narrower : float, default=0
            How many times to double that number and to halve the neighbourhood of local EM, for a narrower topic;
            negative for a broader one.
        project : bool, default=False
            Replace the words by their projection onto the fitted topics. If the corpus follows the model this reduces
            noise; on real text it blurs words that are rarer than the topics can resolve.
        refine : bool, optional
            Refine the topic by EM. If counts are damped, local EM on the documents near the hint, which finds topics
            that are rarer than the fitted ones can resolve; this is the default then. Otherwise Gibbs sampling of LDA
            on all documents, for counts drawn from the model itself: it refines the words of the topic, and leaves its
            weight. The answer's `moment_estimate` is the one before.
        tol : float, default=0.01
            Stop local EM once an iteration gains less than this in the log-likelihood of all documents, in nats.
        max_iter : int, optional
            Number of sweeps of Gibbs sampling, 48 by default; maximum number of iterations of local EM, at most 3.
        max_documents : int, optional
            If more documents contain the words of the hint, use this many of them, evenly spaced: this bounds the time
            of a search for a frequent word. By default all of them are read.
        merge_copies : bool or "auto", default="auto"
            In local EM from words, give n documents that are near-copies of each other the weight of √n others, so
            that a template that mentions a word does not outweigh the documents about it. "auto" does so unless most
            of them are near-copies and their template always has the word: then it is what the word means.
        choose : {"largest", "share"}, optional
            The topic with the largest share of the hint, the default, or of the largest score, as in the paper, which
            is often a tiny topic on real text.
        rehint : bool, default=False
            If the lead is small, contract the moments again with the topic found as the hint.

        Returns
        -------
        Topic
        """
        self._check_fitted()
        if words is None and are_words(hint):
            hint, words = None, hint
        how = Extraction(self._default_choose if choose is None else choose, rehint)
        # Words and documents may be of one hint.
        check_one_hint({"hint": hint, "words": words, **({"documents": documents} if words is None else {})})
        if max_documents is not None:
            check_positive_int("max_documents", max_documents)
        check_choice("merge_copies", merge_copies, (True, False, "auto"))
        options = self._check_refinement(refine, tol, max_iter)
        # A search is too short for the threads of BLAS: on a busy machine they would wait for each other.
        with one_blas_thread:
            marked = self._read_marked(documents, not_documents)
            v = None if documents is not None and words is None else self._read_words(hint, words)
            local: dict[str, Any] = {"breadth": 2.0**-narrower}
            warnings: list[SearchWarning] = []
            if isinstance(v, DroppedHint):
                matches = match_dropped(self._family, v, damping=bool(self._options.damping))
                warnings = [word.warning() for word, _ in v.words]
                if marked is None:
                    family = self._select_components(matches.hint, n_components, narrower)
                    return self._make_query(family, how, options, **local).search_matches(matches, warnings)
                # Documents with the words are about the topic, like those that were marked.
                v, marked = None, marked.join(matches.counts, matches.named.indices)
            if v is not None:
                local |= {"by_rarity": n_components == "enough", "merge_copies": merge_copies}
            family = self._select_components(None if v is None else self._family.project(v), n_components, narrower)
            query = self._make_query(family, how, options, **local)
            if marked is None:
                assert v is not None
                check_phrases(self._family, v)
                return query.search_words(v, project=project, max_documents=max_documents)
            found = add_warnings(query.search_documents(marked, v, max_documents=max_documents), warnings)
            return found if marked.listed is None else keep_documents(found, marked.listed)

    @property
    def _default_choose(self) -> Literal["largest", "share"]:
        return "largest" if self._is_paper() else "share"

    def _check_refinement(self, refine: bool | None, tol: float, max_iter: int | None) -> EMOptions | None:
        damping = bool(self._options.damping)
        refine = damping and not self._is_paper() if refine is None else refine
        default = EM_TUNING.max_iter if damping else LDA_TUNING.n_sweeps
        return check_em_options(refine, tol, max_iter, default_max_iter=default)

    def _select_components(
        self, projected: Array | None, n_components: int | Literal["enough"] | None, narrower: float
    ) -> PlacedFamily:
        """Return the fit with as many components as requested.

        "enough" depends on the projection of the hint onto all of them, (k,); for a few documents it is all of them.
        """
        if n_components == "enough":
            usual = self.n_components_ if projected is None else count_enough(projected)
        else:
            usual = self._select_family(n_components).n_components
        return self._select_family(int(np.clip(usual * 2.0**narrower, min(2, usual), self.n_components_)))

    def _make_query(self, family: PlacedFamily, how: Extraction, options: EMOptions | None, **local: Any) -> TopicQuery:
        return TopicQuery(
            family=family,
            whole=self._family,
            damping=bool(self._options.damping),
            extraction=how,
            refinement=options,
            vocabulary=self.vocabulary_,
            feature_names=self._get_feature_names(),
            **local,
        )

    def _read_words(self, hint: Any, words: Any) -> WordHint | DroppedHint:
        if words is not None:
            return hint_from_words(words, self._columns, self._family.word_mean, self._dropped)
        direction = hint_from_direction(hint, self.n_features_in_)
        return WordHint(np.flatnonzero(direction), direction[direction != 0])

    def _read_marked(self, documents: Any, not_documents: Any) -> MarkedDocuments | None:
        """Return the documents that are about the topic and those that are not; None if none are given."""
        if documents is None and not_documents is None:
            return None
        empty = sp.csr_array((0, self.n_features_in_))
        counts, indices = (empty, NO_DOCUMENTS) if documents is None else self._read_documents(documents)
        if not_documents is None:
            return MarkedDocuments(counts, indices)
        others = index_documents(self._family.chunks, self.n_dropped_, not_documents)
        return mark_documents(self._family, counts, indices, others)

    def _read_documents(self, documents: Any) -> tuple[sp.csr_array, Array]:
        """Return the counts of documents given by rows or as counts, and their indices in the corpus."""
        if np.ndim(documents) != 1 or are_texts(documents):
            return as_counts(self._check_rows(documents, reset=False), self._options.damping), NO_DOCUMENTS
        indices = index_documents(self._family.chunks, self.n_dropped_, documents)
        return pick_documents(self._family.chunks, indices).counts, indices

    def _check_rows(self, X: Any, *, reset: bool) -> Samples:
        """Check counts of other documents; those of `TopicIndex.count` need no scikit-learn."""
        if isinstance(X, sp.csr_array) and X.dtype in FLOAT_DTYPES and X.shape[1] == self.n_features_in_:
            counts: Samples = X
            if np.isfinite(X.data).all():
                return counts
        return check_samples(X, self.n_features_in_)

    def _get_feature_names(self) -> list[str] | None:
        return None


def open_fitted(folder: Folder) -> FittedTopics:
    """Open a fit that was stored. Its arrays are mapped from the files."""
    fitted = FittedTopics()
    try:
        stored = folder.facts["search"]
        fitted.preset = stored["preset"]
        fitted._options = resolve_options(stored)
        restore_fit(fitted, folder)
        check_options(fitted._options, fitted.n_components_, fitted.n_features_in_)
    except Coded:
        raise
    except Exception as error:
        folder.verify()
        raise damage_error(
            "'{path}' holds arrays and facts that do not fit together ({error}).",
            path=str(folder.path),
            error=repr(error),
        ) from error
    return fitted
