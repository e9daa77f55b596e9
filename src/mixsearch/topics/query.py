"""One search for a topic: the components that it uses, extraction, refinement, and the hint in missing topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.confidence import check_separation, lower_trust
from mixsearch.core.component import add_warnings
from mixsearch.core.extraction import Extraction, extract_with_rehint
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted
from mixsearch.core.rows import Chunks
from mixsearch.errors import (
    HintError,
    Option,
    SearchError,
    SearchWarning,
    UnlikelyMixtureWarning,
    WeakHintWarning,
    warn_user,
)
from mixsearch.mixture.em import EMOptions, not_refined
from mixsearch.topics.component import Topic
from mixsearch.topics.confidence import fit_documents, fit_words
from mixsearch.topics.documents import PlacedChunk, PlacedFamily, index_rows
from mixsearch.topics.hint import WordHint
from mixsearch.topics.local_em import refine_locally
from mixsearch.topics.marked import MarkedDocuments, Matches, seed_from_matches
from mixsearch.topics.old_lda import refine_topic
from mixsearch.topics.seeds import (
    MIN_DOCUMENTS,
    MergeCopies,
    Seeds,
    breadth_for,
    seed_from_words,
)

# A topic whose hint has a larger share in directions that were left out is further off than noise would bring it. On
# 60 corpora of 2,000 documents the right ones had up to .03, and the wrong ones .02 or more.
MAX_SHARE = 0.025
# Fewer components than were fitted no longer represent a hint if they keep less than this fraction of its projection.
MIN_KEPT = 0.5
# Enough components keep this fraction of the projection of a hint onto all of them; never fewer than this many.
ENOUGH, MIN_ENOUGH = 0.8, 20


def check_words(found: Topic, hint: WordHint) -> Topic:
    """Return an answer to words, with the warning that topics are missing, if any."""
    left_out = found._family.left_out
    if left_out is None:
        return found
    return _check(found, found._family.project(hint), left_out.rows(hint.columns).project_hint(hint.values), left_out)


def check_documents(found: Topic, frequencies: Array) -> Topic:
    """Return an answer to documents of mean word frequencies, (d,), with a warning if topics are missing."""
    left_out = found._family.left_out
    if left_out is None:
        return found
    return _check(found, found._frame.whiten(frequencies), left_out.whiten(frequencies), left_out)


def _check(found: Topic, inside: Array, outside: Array, left_out: Frame) -> Topic:
    """Compare what a hint has in the frame, (k,), and in the directions that were left out, (m,)."""
    share = float(np.sum(outside**2) / (np.sum(inside**2) + np.sum(outside**2)))
    if not share > MAX_SHARE:
        return found
    warning = UnlikelyMixtureWarning(
        "There are more topics than {n_components}: {percent:.0f}% of the hint is in directions that stand out from "
        "the noise but were not fitted, so the topic found may be a mixture of several. Fit more of them ({argument}).",
        code="too_few_components",
        argument=Option("n_components"),
        n_components=found._family.n_components,
        n_left_out=left_out.n_components,
        percent=100 * share,
    )
    return lower_trust(add_warnings(found, [warning]), MAX_SHARE / share)


def count_enough(projected: Array) -> int:
    """Return how many components keep most of the projection of a hint onto all of them, (k,)."""
    kept = np.cumsum(projected**2)
    return int(max(np.searchsorted(kept, ENOUGH * kept[-1]) + 1, min(MIN_ENOUGH, len(projected))))


def warn_if_lost(hint: WordHint, whole: PlacedFamily, used: PlacedFamily) -> None:
    """Warn if most of a hint lies in the components that a search leaves out."""
    total, kept = (np.sum(each.project(hint) ** 2) for each in (whole, used))
    if kept < MIN_KEPT * total:
        warn_user(
            WeakHintWarning(
                "The first {n_components} of {n_fitted} components explain {share:.0%} of the hint, so the topic found "
                "may be about something else. Use more components.",
                code="hint_left_out",
                n_components=used.n_components,
                n_fitted=whole.n_components,
                share=float(kept / total),
            )
        )


@dataclass(frozen=True)
class TopicQuery:
    """How to search for a topic: with which components, how to extract it, how to refine it."""

    family: PlacedFamily  # with the components that the search uses
    whole: PlacedFamily  # with all components of the fit
    damping: bool
    extraction: Extraction
    refinement: EMOptions | None
    vocabulary: Sequence[str] | None
    feature_names: Sequence[str] | None
    breadth: float = 1.0  # scales the neighbourhood of local EM
    by_rarity: bool = False  # make it narrower the rarer the words are
    merge_copies: MergeCopies = "auto"  # count near-copies less

    def search_words(self, hint: WordHint, *, project: bool, max_documents: int | None) -> Topic:
        """Find the topic of a hint over words, or of its projection onto the components."""
        warn_if_lost(hint, self.whole, self.family)
        found = self._extract(self.family.project(hint)) if project else self._extract(hint, max_documents)
        fit = fit_words(self.family, hint, found._point, damping=self.damping)
        # After local EM, the lead of the moment estimate is one of many signals of the confidence.
        is_local = self.damping and self.refinement is not None
        lead = [] if is_local else check_separation(found.separation)
        found = lower_trust(add_warnings(found, fit.warnings() or lead), fit.agreement)
        find_seeds = partial(seed_from_words, hint, self.merge_copies)
        return self._refine(check_words(found, hint), find_seeds, by_rarity=self.by_rarity)

    def search_documents(
        self, marked: MarkedDocuments, words: WordHint | None = None, *, max_documents: int | None = None
    ) -> Topic:
        """Find the topic of documents that are about it and of others that are not, and of words, if there are any."""
        hinted = marked.hinted(self.family, words, max_documents)
        found = self._extract_hinted(hinted, hinted.hint)
        found = check_documents(found, marked.word_frequencies) if words is None else check_words(found, words)
        find_seeds = partial(self._seed, marked, words)
        if words is not None and not marked.n_documents:
            # The words say what is asked for, so how sure the answer is depends on them.
            return self._refine(replace(found, _hint=words), find_seeds, by_rarity=self.by_rarity)
        fit = fit_documents(self.family, marked.counts, found._point, damping=self.damping)
        found = replace(lower_trust(found, fit.agreement), _example_fit=fit)
        refined = self._refine(found, find_seeds, by_rarity=self.by_rarity and words is not None)
        lead = [] if refined._rests_on_documents else check_separation(found.separation)
        return add_warnings(refined, fit.warnings() or lead)

    def _seed(self, marked: MarkedDocuments, words: WordHint | None, family: PlacedFamily, weight: float) -> Seeds:
        from_words = None if words is None else seed_from_words(words, self.merge_copies, family, weight)
        return marked.seed(family, weight, from_words)

    def search_matches(self, matches: Matches, warnings: Sequence[SearchWarning]) -> Topic:
        """Find the topic of words that are not features, from the documents with most of them."""
        if matches.hint is None:
            marked = MarkedDocuments(matches.counts, matches.named.indices)
            by_documents = add_warnings(self.search_documents(marked), warnings)
            # A document that contains a word need not be about it.
            return lower_trust(by_documents, min(1.0, len(matches.named.indices) / MIN_DOCUMENTS))
        found = self._extract(matches.hint[: self.family.n_components])
        warnings = [*warnings, *check_separation(found.separation)]
        found = add_warnings(check_documents(found, matches.named.words), warnings)
        refined = self._refine(found, partial(seed_from_matches, matches))
        # A topic that is rarer than the words is what at most this part of their documents is about.
        share = matches.n_documents / self.family.chunks.n_rows
        return lower_trust(refined, min(1.0, max(refined.weight, 0.0) / share))

    def _extract(self, hint: WordHint | Array, max_documents: int | None = None) -> Topic:
        return self._extract_hinted(self.family.hinted(hint, max_documents), hint, max_documents)

    def _extract_hinted(self, hinted: Hinted, hint: WordHint | Array, max_documents: int | None = None) -> Topic:
        candidates, again = extract_with_rehint(self.family.hinted, hinted, self.extraction)
        return Topic(
            self.family.frame,
            candidates,
            _family=self.family,
            _hinted=hinted,
            _rehint=again,
            _hint=hint,
            _choose=self.extraction.choose,
            _vocabulary=self.vocabulary,
            _damping=self.damping,
            _max_documents=max_documents,
            _feature_names=self.feature_names,
        )

    def _refine(
        self, found: Topic, find_seeds: Callable[[PlacedFamily, float], Seeds], *, by_rarity: bool = False
    ) -> Topic:
        if self.refinement is None:
            return found
        if not self.damping:
            return _refine_on_corpus(found, self.refinement)
        seeds = find_seeds(self.whole, found.weight)
        usual = breadth_for(seeds.size, self.whole.n_components, self.whole.chunks.n_rows) if by_rarity else 1.0
        scaled = seeds._replace(size=round(usual * self.breadth * seeds.size))
        refined = refine_locally(self.family, self.whole, found._candidates, scaled, self.refinement)
        return replace(found, _refined=refined)


def _refine_on_corpus(found: Topic, options: EMOptions) -> Topic:
    refined = refine_topic(found._family, found._candidates, options.max_iter)
    return add_warnings(found, [not_refined()]) if refined is None else replace(found, _refined=refined)


def index_documents(chunks: Chunks[PlacedChunk], n_dropped: int, documents: Any) -> Array:
    """Return the indices in the corpus of rows of the user's matrix, given as numbers or as a mask, (q,)."""
    rows = np.asarray(documents)
    n_rows = chunks.n_rows + n_dropped
    if rows.dtype == bool and len(rows) == n_rows:
        rows = np.flatnonzero(rows)
    if not np.issubdtype(rows.dtype, np.integer):
        raise HintError(
            "documents must be row numbers, a mask of all {n_rows:,} rows, or counts of {n_words:,} columns, got "
            "{n_values:,} values of type {dtype}. Pass one document as counts[[row]].",
            code="bad_documents",
            n_rows=n_rows,
            n_words=chunks.n_features,
            n_values=len(rows),
            dtype=str(rows.dtype),
        )
    indices = index_rows(chunks, rows)
    if (indices < 0).any():
        raise SearchError(
            "Row {row} is not a document of this fit: it was left out, or is not among the {n_rows:,} rows.",
            code="unknown_row",
            row=int(rows[indices < 0][0]),
            n_rows=n_rows,
        )
    return indices
