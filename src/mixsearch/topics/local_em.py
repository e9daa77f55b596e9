"""Local EM: a topic refined on the documents near its hint, with its neighbours as the rest of the mixture.

Moments see the corpus through k directions, so a topic that is rarer than these can resolve comes out as its broader
neighbour. Local EM costs little: start halfway between the moment estimate and the documents that the hint names, take
the documents nearest to that, and let the topic, its strongest neighbours and the whole corpus compete for their words
in a few iterations. All constants rest on benchmarks/choices.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.extraction import Candidates
from mixsearch.core.jackknife import StandardErrors, jackknife
from mixsearch.core.rows import N_GROUPS, Chunk, Chunks, group_indices, row_slices, top_rows
from mixsearch.mixture.em import EMOptions
from mixsearch.topics.documents import (
    WORDS_ELSEWHERE,
    DocumentSample,
    PlacedFamily,
    ScoredChunk,
    ShareChunk,
    local_rows,
    mask_rows,
    pick_documents,
    sample_rows,
)
from mixsearch.topics.evidence import (
    base_level,
    best_with_sizes,
    count_members,
    count_within,
    document_shares,
    find_largest_shares,
    max_members,
    score_documents,
    share_from_scores,
    sum_evidence,
    word_evidence,
    word_typicality,
)
from mixsearch.topics.old_lda import Refined, project_to_simplex
from mixsearch.topics.ranking import NamedDocuments, Ranking, mean_of_named, rank_by
from mixsearch.topics.reductions import TopRows
from mixsearch.topics.seeds import Seeds, thin_copies

# The best documents are looked for among this many with large shares, unless more than a quarter of that are asked for.
N_CANDIDATES, MAX_FROM_CANDIDATES = 1000, 250
# From this share of the topic on, a document is about it (benchmarks/topic_sizes.py).
ABOUT_SHARE = 0.25
# Standard error of the factor by which the shares of all documents may be wrong: those of damped counts, in which
# repetitions count less, are too small or too large for documents drawn by LDA (benchmarks/timelines.py).
SCALE_ERROR = 0.15
# Documents near the hint: twice as many as it names, within these bounds.
NEAR_PER_SEED = 2
MIN_NEAR, MAX_NEAR = 50, 1000
# Fewer if they are long: this many different words in all.
MAX_NEAR_WORDS = 100_000
# Other topics that compete for the words of those documents.
N_NEIGHBOURS = 8
MAX_LOCAL_ITER = 3
# Pseudo-counts of words in each document: of the topic, of each neighbour, of the whole corpus.
PRIOR_TOPIC, PRIOR_NEIGHBOUR, PRIOR_CORPUS = 1.0, 0.5, 20.0
# Minimum probability of a word in a document: a count divided by it stays finite in single precision.
MIN_EXPECTED = 1e-30
# Numbers, one for each stored count and topic, that stay in cache while they are multiplied and summed.
CACHED_CELLS = 1 << 16


class LocalState(NamedTuple):
    """The neighbourhood of a hint, and the topics that compete for its words, the one found first."""

    documents: Array  # indices in the corpus, (m,)
    words: Array  # columns of the words that they contain, (q,)
    topics: Array  # probabilities of these words, (q, J)
    shares: Array  # of the topics in each document, (m, J)


@dataclass(frozen=True)
class LocalTopic(Refined):
    """A topic after local EM, with the evidence of words for it; see `evidence` for the linear shares."""

    evidence: Array  # z, (d,); 0 for words that are hardly likelier in the topic than in the corpus
    base: float  # b: the median level of the documents without the topic
    gain: float  # a - b
    scored: Chunks[ScoredChunk]  # Σ z over the words of every document of the corpus
    typicality: Array  # (d,): what containing the word says about whether a document is about the topic
    largest: Array  # indices of the documents with the largest shares, the best first
    named: NamedDocuments  # what the documents that the hint names have in common
    family: PlacedFamily  # with all components
    state: LocalState
    against: NamedDocuments | None = None  # what documents that are not about the topic have in common
    has_hint_documents: bool = True  # False if no document contains the hint: members stand in for `named`

    @cached_property
    def ranking(self) -> Ranking:
        """How much documents are about the topic."""
        return rank_by(self.family, self.center, self.named, self.against)

    def best_documents(self, n: int, among: Array | None = None) -> TopRows:
        """Return the documents of the corpus, or among some, that are most about the topic, with their rows and shares.

        Shares of single documents are noisy: those returned are means over documents of similar rank, and fall.
        """
        if n > MAX_FROM_CANDIDATES:
            best = self._rank(None if among is None else np.flatnonzero(among))
        else:
            best = self._best_candidates if among is None else self._rank(self._find_candidates(among))
        rows, shares = best.values
        return TopRows(n, best.scores[:n], best.indices[:n], (rows[:n], shares[:n]))

    @cached_property
    def _best_candidates(self) -> TopRows:
        """Documents with large shares and those that the hint names, ranked."""
        return self._rank(self._find_candidates(None))

    def _find_candidates(self, among: Array | None) -> Array:
        if among is None:
            return np.union1d(self.largest[:N_CANDIDATES], self.named.indices)
        best: TopRows = self.scored.sum(find_largest_shares, self.base, self.gain, N_CANDIDATES, among)
        return np.union1d(best.indices, self.named.indices[among[self.named.indices]])

    def _rank(self, candidates: Array | None) -> TopRows:
        """Rank some documents, or all."""
        n = self.scored.n_rows if candidates is None else len(candidates)
        best: TopRows = self.scored.sum(_best_documents, self.ranking, candidates, self.base, self.gain, n)
        rows, shares = best.values
        return TopRows(n, best.scores, best.indices, (rows, fit_falling(shares)))

    def count_about(self, among: Array | None = None) -> int:
        """Return the number of documents, of all or among some, that are to a fair part about the topic."""
        return int(self.scored.sum(_count_about, self.base, self.gain, among))

    def corpus_shares(self) -> Array:
        """Return the topic's share in every document of the corpus, unbiased and so also below 0, (n,)."""
        return self.scored.map(_to_shares, self.base, self.gain).collect().chunk.shares

    def share(self, counts: sp.csr_array, lengths: Array) -> Array:
        """Return the topic's share in any documents, (n,)."""
        return np.where(lengths > 0, share_from_scores(counts @ self.evidence, lengths, self.base, self.gain), 0.0)


def _count_about(chunk: ScoredChunk, base: float, gain: float, among: Array | None) -> Any:
    is_about = chunk.scores >= (base + ABOUT_SHARE * gain) * chunk.lengths
    return int(np.count_nonzero(is_about if among is None else is_about & mask_rows(chunk, among)))


def _to_shares(chunk: ScoredChunk, base: float, gain: float) -> ShareChunk:
    return ShareChunk(chunk.first, document_shares(chunk, base, gain))


def _best_documents(
    chunk: ScoredChunk, ranking: Ranking, candidates: Array | None, base: float, gain: float, n: int
) -> Any:
    """Rank some documents of a chunk, or all."""
    rows = np.arange(chunk.n_rows) if candidates is None else local_rows(chunk, candidates)[1]
    scores = ranking.score(sample_rows(chunk, slice(None) if candidates is None else rows))
    order = top_rows(scores, len(rows))
    rows = rows[order]
    shares = share_from_scores(chunk.scores[rows], chunk.lengths[rows], base, gain)
    return TopRows(n, scores[order], rows + chunk.first, (chunk.rows[rows], shares))


def fit_falling(values: Array) -> Array:
    """Return the falling sequence nearest to values, in least squares.

    Neighbours of which the later is larger have the same value there: runs of them are pooled until none is left.
    `scipy.optimize.isotonic_regression` does the same, and takes longer to import than an answer to find.
    """
    sums, sizes = np.asarray(values, dtype=np.float64), np.ones(len(values), dtype=np.intp)
    while True:
        means = sums / sizes
        rises = np.diff(means) > 0
        if not rises.any():
            return np.repeat(means, sizes)
        starts = np.flatnonzero(np.concatenate([[True], ~rises]))
        sums, sizes = np.add.reduceat(sums, starts), np.add.reduceat(sizes, starts)


def refine_locally(
    family: PlacedFamily, whole: PlacedFamily, candidates: Candidates, seeds: Seeds, options: EMOptions
) -> LocalTopic:
    """Refine the first candidate on the documents near the hint."""
    start = project_to_simplex(family.frame.unwhiten(candidates.points[:, 0]))
    if seeds.named is not None:
        start = (start + seeds.named.words) / 2
    documents = _find_neighbourhood(family, start, seeds)
    few = options._replace(max_iter=min(options.max_iter, MAX_LOCAL_ITER))
    if seeds.against is not None:
        documents = np.setdiff1d(documents, seeds.against.indices)
    near = pick_documents(family.chunks, documents)
    if seeds.merge_copies:
        kept = thin_copies(near.counts, family.idf)
        near, documents = near.take(kept), documents[kept]
    state, objectives = _run_local_em(family, near, documents, start, candidates, few)
    return _describe(whole, state, objectives, seeds, float(candidates.weights[0]) / family.alpha0)


class NearDocuments(NamedTuple):
    """The best documents of a topic, with how many different words each has."""

    best: TopRows  # of all documents
    named: TopRows  # of those that the hint names


def _find_neighbourhood(family: PlacedFamily, probabilities: Array, seeds: Seeds) -> Array:
    """Return the indices of the documents that the topic and the hint are about, (m,)."""
    n_near = int(np.clip(NEAR_PER_SEED * seeds.size, MIN_NEAR, MAX_NEAR))
    near = seeds.scored.sum(_near_documents, word_evidence(family, probabilities), seeds.min_score, n_near)
    indices, first = np.unique(np.concatenate([each.indices for each in near]), return_index=True)
    scores, sizes = (np.concatenate(both)[first] for both in zip(*((b.scores, *b.values) for b in near), strict=True))
    ranked = np.argsort(-scores, kind="stable")
    return np.sort(indices[ranked[: count_within(sizes[ranked], MAX_NEAR_WORDS, MIN_NEAR)]])


def _near_documents(chunk: ScoredChunk, evidence: Array, min_score: float, n_near: int) -> NearDocuments:
    scores = sum_evidence(chunk, evidence) / (chunk.lengths + WORDS_ELSEWHERE)
    named = np.flatnonzero(chunk.scores > min_score)
    return NearDocuments(
        best_with_sizes(chunk, scores, top_rows(scores, n_near), n_near),
        best_with_sizes(chunk, scores, named[top_rows(scores[named], MAX_NEAR)], MAX_NEAR),
    )


def _run_local_em(
    family: PlacedFamily,
    near: DocumentSample,
    documents: Array,
    start: Array,
    candidates: Candidates,
    options: EMOptions,
) -> tuple[LocalState, tuple[float, ...]]:
    """Return the state after a few iterations on these documents, and the objectives of those before."""
    counts, words = drop_absent_words(near.counts)
    others = _neighbour_topics(family, near, words, candidates)
    corpus = family.word_mean[words, None]
    topics = np.hstack([start[words, None] + 1e-9, others, corpus / family.word_mean.sum()]).astype(counts.dtype)
    n_others = others.shape[1]
    prior = np.array([PRIOR_TOPIC, *[PRIOR_NEIGHBOUR] * n_others, PRIOR_CORPUS], dtype=counts.dtype)
    # About a third each to the topic, to all its neighbours and to the corpus: only a start.
    shares = np.array([0.3, *[0.3 / max(n_others, 1)] * n_others, 0.4], dtype=counts.dtype)
    initial = LocalState(documents, words, topics, np.tile(shares / shares.sum(), (len(documents), 1)))

    return _iterate(counts, initial, prior, options)


def _iterate(
    counts: sp.csr_array, state: LocalState, prior: Array, options: EMOptions
) -> tuple[LocalState, tuple[float, ...]]:
    """Return the state after the iterations, and the objectives of those before: the last one decides nothing."""
    objectives: list[float] = []
    for _ in range(options.max_iter):
        ratios, objective = e_step(counts, state, prior)
        objectives.append(objective)
        if len(objectives) > 1 and objective - objectives[-2] < options.tol:
            break
        state = m_step(state, ratios, prior)
    return state, tuple(objectives)


def drop_absent_words(counts: sp.csr_array) -> tuple[sp.csr_array, Array]:
    """Return counts with columns only for words that occur, (m, q), and the columns that these had."""
    occurs = np.bincount(counts.indices, minlength=counts.shape[1]) > 0
    columns = (np.cumsum(occurs, dtype=counts.indices.dtype) - 1)[counts.indices]
    words = np.flatnonzero(occurs)
    return sp.csr_array((counts.data, columns, counts.indptr), shape=(counts.shape[0], len(words))), words


def _neighbour_topics(family: PlacedFamily, near: DocumentSample, words: Array, candidates: Candidates) -> Array:
    """Return the other topics with the largest shares of these documents, restricted to these words, (q, J)."""
    points, weights = candidates.points, candidates.weights[: candidates.points.shape[1]]
    shares = (near.projected / near.lengths[:, None]) @ (points * weights)
    mass = np.clip(shares, 0, 1).mean(axis=0)
    strongest = 1 + np.argsort(-mass[1:], kind="stable")[:N_NEIGHBOURS]
    rough = np.maximum(family.frame.rows(words).unwhiten(points[:, strongest]), 0)
    corpus = family.word_mean[words, None].astype(rough.dtype)
    # A tenth of the corpus, so that no word is impossible for a neighbour.
    return np.asarray(0.9 * rough / np.maximum(_sum_columns(rough), 1e-12) + 0.1 * corpus)


def _sum_columns(values: Array) -> Array:
    """Return the sum of each of a few long columns, (k,): `sum` would take four times as long."""
    return np.asarray(np.einsum("ij->j", values))


def mix_topics(counts: sp.csr_array, levels: Array, topics: Array) -> Array:
    """Compute Σ level x topic for each word of each document."""
    n_topics = topics.shape[1]
    documents = np.repeat(np.arange(len(levels)), np.diff(counts.indptr))
    ones = np.ones(n_topics, topics.dtype)
    mixed = np.empty(counts.nnz, np.result_type(levels, topics))
    with np.errstate(invalid="ignore"):  # kernels of BLAS may set this flag although all factors are finite
        for cells in row_slices(counts.nnz, max(CACHED_CELLS // n_topics, 1)):
            by_topic = np.take(levels, documents[cells], axis=0) * np.take(topics, counts.indices[cells], axis=0)
            mixed[cells] = by_topic @ ones  # several times as fast as a sum over so short an axis
    return np.maximum(mixed, MIN_EXPECTED)


def ratios_to_expected(counts: sp.csr_array, topics: Array, shares: Array) -> tuple[sp.csr_array, float]:
    """Return counts over the probabilities of their words in the document, (m, q), and the log-likelihood."""
    expected = mix_topics(counts, shares, topics)
    ratios = sp.csr_array((counts.data / expected, counts.indices, counts.indptr), shape=counts.shape)
    return ratios, float(np.sum(counts.data * np.log(expected), dtype=np.float64))


def e_step(counts: sp.csr_array, state: LocalState, prior: Array) -> tuple[sp.csr_array, float]:
    """Return what the M-step needs, and the objective of the state."""
    ratios, likelihood = ratios_to_expected(counts, state.topics, state.shares)
    return ratios, likelihood + float(np.sum(np.log(state.shares) @ prior, dtype=np.float64))


def m_step(state: LocalState, ratios: sp.csr_array, prior: Array) -> LocalState:
    """Return the next state. The last topic, the whole corpus, is fixed."""
    topics = state.topics * (ratios.T @ state.shares)
    topics /= np.maximum(_sum_columns(topics), 1e-12)
    topics[:, -1] = state.topics[:, -1]
    shares = state.shares * (ratios @ state.topics) + prior
    return state._replace(topics=topics, shares=shares / shares.sum(axis=1, keepdims=True))


def _describe(
    family: PlacedFamily, state: LocalState, objectives: tuple[float, ...], seeds: Seeds, rough_weight: float
) -> LocalTopic:
    probabilities = np.zeros_like(family.word_mean)
    probabilities[state.words] = state.topics[:, 0]
    evidence = word_evidence(family, probabilities)
    scored = family.chunks.map(score_documents, evidence)
    base = base_level(scored, rough_weight)
    gain = max(float(probabilities @ evidence) - base, np.finfo(np.float64).tiny)
    if not evidence.any():  # the topic is like the corpus: every document has the share that moments find
        base, gain = -min(rough_weight, 1.0), 1.0
    n_members = max_members(seeds.size)
    best: TopRows = scored.sum(find_largest_shares, base, gain, max(n_members, N_CANDIDATES))
    members = best.indices[: count_members(best, n_members)]
    named = seeds.named
    if named is None:
        named = mean_of_named(family, pick_documents(family.chunks, members), members, np.ones(len(members)))
    return LocalTopic(
        center=probabilities,
        weight=float(np.clip((family.word_mean @ evidence - base) / gain, 0, 1)),
        objectives=objectives,
        evidence=evidence,
        base=base,
        gain=gain,
        scored=scored,
        typicality=word_typicality(family, probabilities, members),
        largest=best.indices,
        named=named,
        family=family,
        state=state,
        against=seeds.against,
        has_hint_documents=seeds.named is not None,
    )


def estimate_errors(family: PlacedFamily, refined: LocalTopic) -> StandardErrors:
    """Return the standard errors of a topic after local EM, from groups of the documents of its neighbourhood.

    Notes
    -----
    The neighbourhood and the responsibilities are taken as known: without a group, the expected counts of the topic are
    those of the other documents. The weight is the mean share of all documents. Neither accounts for what was estimated
    from the same documents, so both errors are rather small.
    """
    counts = _expected_counts_by_group(family, refined)
    rest = counts.sum(axis=1, keepdims=True) - counts
    errors = np.zeros_like(refined.center)
    errors[refined.state.words] = jackknife((rest / np.maximum(rest.sum(axis=0), np.finfo(np.float64).tiny)).T)
    weight = float(jackknife(_replicate_weights(family, refined)))
    return StandardErrors(floor_errors(errors, float(counts.sum())), weight)


def floor_errors(errors: Array, n_words: float) -> Array:
    """Return standard errors of the probabilities of words, (d,), of at least 1/n in a topic of n words.

    A word may be missing in a topic by chance, and groups without it do not show that. A probability is known to 1/n at
    best if the word occurs once in n words, or not at all.
    """
    return np.maximum(errors, 1 / max(n_words, 1.0))


def _expected_counts_by_group(family: PlacedFamily, refined: LocalTopic) -> Array:
    """Return the expected counts of the topic in each group of the neighbourhood, (q, B)."""
    state = refined.state
    counts, _ = drop_absent_words(pick_documents(family.chunks, state.documents).counts)
    ratios, _ = ratios_to_expected(counts, state.topics, state.shares)
    n_documents, n_words = counts.shape
    n_groups = min(N_GROUPS, n_documents)
    documents = np.repeat(np.arange(n_documents), np.diff(counts.indptr))
    cells = counts.indices * n_groups + group_indices(Chunk(0), n_documents, n_groups)[documents]
    shares = ratios.data * state.shares[:, 0].astype(np.float64)[documents]
    sums = np.bincount(cells, shares, n_words * n_groups).reshape(n_words, n_groups)
    return np.asarray(state.topics[:, :1].astype(np.float64) * sums)


class GroupShares(NamedTuple):
    """Sums over the documents of each group."""

    weights: Array  # Σ ω, (B,)
    shares: Array  # Σ ωθ, (B,)


def _replicate_weights(family: PlacedFamily, refined: LocalTopic) -> Array:
    """Return the mean share of all documents but one group, (B,)."""
    weights, shares = refined.scored.sum(
        _group_shares, refined.base, refined.gain, family.distinct, family.chunks.n_groups
    )
    return np.asarray((shares.sum() - shares) / (weights.sum() - weights))


def _group_shares(chunk: ScoredChunk, base: float, gain: float, distinct: bool, n_groups: int) -> GroupShares:
    weights, groups = chunk.document_weights(distinct), group_indices(chunk, len(chunk.lengths), n_groups)
    shares = weights * document_shares(chunk, base, gain)
    return GroupShares(np.bincount(groups, weights, n_groups), np.bincount(groups, shares, n_groups))
