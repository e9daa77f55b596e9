"""Fit of topics: the signal space of a corpus, its documents projected onto it, and the Dirichlet parameters' sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.core.eigen import as_operator, top_eigenpairs
from mixsearch.core.frame import Frame, count_above, frame_from_eigenpairs
from mixsearch.core.jackknife import jackknife
from mixsearch.core.second_moment import multiply_gram_chunks, rescale, symmetric_operator
from mixsearch.data.chunks import ArraySum, RowChunks, sum_chunks
from mixsearch.data.partitions import Partitions
from mixsearch.data.threads import n_cores, one_blas_thread
from mixsearch.topics.documents import CountPartition, DocumentWeights, TopicPartition, Weighting, weight_documents
from mixsearch.topics.moments import RowLengths, TopicFamily
from mixsearch.topics.unit_vectors import MeanDocument, UnitSums, inverse_frequency, sum_unit_vectors, tfidf_lengths

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

# Vectors that one pass over the counts serves: more passes than with k + 10 of them, but less time in all.
BLOCK = 20
# Residual of the eigenvectors, relative to each eigenvalue: rankings of documents are the same at a tenth of it.
EIGEN_TOL = 1e-2
# Directions beyond the signal space that come with its eigenvectors.
MAX_LEFT_OUT = 10
# Noise reaches up to 1.5 times as far as down, a topic six times or more (600 documents of 12 words). The order of
# magnitude of the noise is enough.
MIN_NOISE_RATIO = 3.0
NOISE_TOL, MAX_NOISE_PASSES, NOISE_BLOCK = 0.1, 10, 4
# If the next eigenvalue is smaller than this fraction of the last one, no topic as strong as the others is left out.
MIN_NEXT = 0.1

# From a shape and a dtype to an array that holds the projected documents, for instance on disk.
Allocate = Callable[[tuple[int, int], Any], Array]
# The sum with which moments are fitted before it is estimated; any will do.
FIRST_ALPHA0 = 1.0
# Contractions to compare: more of them cost one pass each and hardly lower the error.
_N_HINTS = 6
# The range of sums that is searched, and the number of steps before the best of them is refined.
_RANGE, _N_STEPS = (1e-2, 1e2), 25
# Eigenvalues of a second moment that a wrong sum made negative are raised to this fraction of the largest.
_MIN_VALUE = 1e-12


def fit_topics(
    partitions: Partitions[CountPartition],
    n_components: int,
    *,
    alpha0: float,
    distinct: bool,
    weighting: Weighting,
    metric: float,
    seed: int,
    check_rest: bool = False,
    allocate: Allocate = np.empty,
    on_pass: Callable[[int], None] | None = None,
) -> TopicFamily:
    """Find the signal space of the topics and project the documents onto it."""
    weighted, sums = partitions.map_reduce(add_weights, weight_documents(partitions, weighting, distinct=distinct))
    word_mean, own_pairs, own_triples = sums.words.T.copy()
    scale = word_scale(word_mean, metric)
    second = rescale(
        _pair_operator(weighted),
        scale=alpha0 * (alpha0 + 1),
        metric=scale,
        diagonal=scale**2 * own_pairs if distinct else np.zeros_like(scale),
        direction=alpha0 * scale * word_mean,
    )
    n_beyond = min(MAX_LEFT_OUT, len(scale) - n_components) if check_rest else 0
    # Real text has no gap in its spectrum to converge to; rankings of documents no longer change at this residual. Nor
    # does it have equal eigenvalues, so a narrow block is enough.
    with one_blas_thread:
        values, vectors, n_applications = top_eigenpairs(
            second,
            n_components + n_beyond,
            n_converged=n_components,
            seed=seed,
            tol=EIGEN_TOL,
            block=BLOCK,
            n_threads=n_cores(),
            on_application=on_pass,
        )
    # Past the true rank the eigenvalues of A turn negative; the first one must not.
    k = max(count_above(values[:n_components]), 1)
    frame = replace(frame_from_eigenpairs(values[:k], vectors[:, :k]), metric=scale)
    beyond = Frame(vectors[:, k:], values[k:], scale)
    idf = inverse_frequency(sums.document_frequency, partitions.n_rows)
    projected, projection = weighted.map_reduce(project_documents, frame, idf, allocate)
    return TopicFamily(
        frame=frame,
        alpha0=alpha0,
        mean=frame.whiten(alpha0 * word_mean),
        word_mean=word_mean,
        distinct=distinct,
        own_pairs=own_pairs,
        own_triples=own_triples,
        own_crossed=projection.crossed,
        document_frequency=sums.document_frequency,
        idf=idf,
        n_applications=n_applications,
        mean_document=MeanDocument.from_sums(projection.units, partitions.n_rows),
        row_lengths=RowLengths(frame),
        partitions=projected,
        left_out=_find_left_out(second, beyond, float(frame.values[-1]), seed) if n_beyond else None,
    )


def _find_left_out(second: Matrix, beyond: Frame, last: float, seed: int) -> Frame | None:
    """Return the directions beyond the signal space that stand out from the noise, if there are some.

    Notes
    -----
    A has no negative eigenvalues, but its unbiased estimate has: noise reaches about as far up as down.
    """
    if beyond.values[0] < MIN_NEXT * last:
        return None
    with one_blas_thread:
        lowest = top_eigenpairs(
            -as_operator(second), 1, seed=seed, tol=NOISE_TOL, max_applications=MAX_NOISE_PASSES, block=NOISE_BLOCK
        )
    n = count_above(beyond.values, MIN_NOISE_RATIO * float(lowest.values[0]), precision=beyond.basis.dtype)
    return beyond.take(n) if n else None


@dataclass(frozen=True)
class WeightedPartition(CountPartition):
    """Documents with the weight of their pairs and triples of words in all averages."""

    _: KW_ONLY
    pair_weights: Array  # (n,)
    triple_weights: Array  # (n,)


class WordSums(NamedTuple):
    """Sums over documents that need no pass over their pairs of words."""

    words: Array  # of counts, as frequencies and with the weights of pairs and of triples, (d, 3)
    document_frequency: Array  # the number of documents that contain each word, (d,)


def add_weights(partition: CountPartition, weights: DocumentWeights) -> tuple[WeightedPartition, WordSums]:
    """Return documents with their weights, and sums over them."""
    by_document, by_pair, by_triple = weights.compute(partition.lengths)
    columns = np.column_stack([by_document / partition.lengths, by_pair, by_triple])
    sums = WordSums(sum_rows(partition.counts, columns), np.diff(partition.by_word.indptr).astype(np.int64))
    return WeightedPartition(**vars(partition), pair_weights=by_pair, triple_weights=by_triple), sums


def _pair_operator(partitions: Partitions[WeightedPartition]) -> LinearOperator:
    """Return Q -> Σ pair weight cc'Q: one pass over the counts for a whole block of vectors."""

    def apply(Q: Array) -> Array:
        return np.asarray(partitions.reduce(_multiply_pairs, np.ascontiguousarray(Q)).total)

    return symmetric_operator(partitions.n_features, partitions.layout.dtype, apply)


def _multiply_pairs(partition: WeightedPartition, Q: Array) -> ArraySum:
    return multiply_gram_chunks(partition.counts, Q, partition.pair_weights)


def sum_rows(counts: RowChunks, weights: Array) -> Array:
    """Return X' weights, (d, q)."""

    def sum_chunk(chunk: tuple[int, slice]) -> ArraySum:
        index, rows = chunk
        return ArraySum(np.asarray(counts.read(index).T @ weights[rows]))

    return np.asarray(sum_chunks(sum_chunk, counts.enumerate(), n_cores()).total)


def _whitening_matrix(frame: Frame) -> Array:
    """Return W, (d, k), in the precision of the frame."""
    V, scale, roots = frame.basis, frame.metric, np.sqrt(frame.values)
    scaled = V if scale is None else V * scale[:, None].astype(V.dtype)
    return np.ascontiguousarray(scaled / roots.astype(V.dtype))


class ProjectionSums(NamedTuple):
    """Sums over documents that are projected onto the signal space."""

    crossed: Array  # Σ triple weight x c y', (d, k)
    tfidf: Array  # (d, 2)
    places: Array  # (2, k)

    @property
    def units(self) -> UnitSums:
        """The sums of unit vectors."""
        return UnitSums(self.tfidf, self.places)


def project_documents(
    partition: WeightedPartition, frame: Frame, idf: Array, allocate: Allocate
) -> tuple[TopicPartition, ProjectionSums]:
    """Return the documents with their whitened counts Y and their lengths as tf-idf vectors."""
    counts, W = partition.counts, _whitening_matrix(frame)
    projected = allocate((counts.shape[0], W.shape[1]), counts.dtype)
    lengths = np.empty(counts.shape[0])

    def project_chunk(chunk: tuple[int, slice]) -> ProjectionSums:
        index, rows = chunk
        X = counts.read(index)
        projected[rows] = Y = X @ W
        lengths[rows] = tfidf_lengths(X, idf)
        crossed = X.T @ (Y * partition.triple_weights[rows, None].astype(Y.dtype))
        return ProjectionSums(np.asarray(crossed), *sum_unit_vectors(X, lengths[rows], Y, frame.values, idf))

    sums = sum_chunks(project_chunk, counts.enumerate(), n_cores())
    known = {name: value for name, value in vars(partition).items() if name != "stored"}
    return TopicPartition(**known, tfidf_lengths=lengths, projected=projected), sums


def word_scale(word_mean: Array, metric: float) -> Array:
    """Return the scale of each word, p^(-metric), (d,); 1 for words that never occur."""
    return np.where(word_mean > 0, word_mean, 1.0) ** -metric


class Concentration(NamedTuple):
    """The sum of the Dirichlet parameters and its standard error."""

    alpha0: float
    stderr: float


class _RawMoments(NamedTuple):
    """Averages over distinct words of a document in the frame, independent of alpha0."""

    mean: Array  # E[x1], (k,)
    pairs: Array  # E[x1x2'], (k, k)
    triples: list[Array]  # E[⟨x3, v⟩x1x2'] for each hint, (k, k)
    hints: Array  # one in each row, (q, k)


def estimate_alpha0(family: TopicFamily) -> Concentration:
    """Estimate the sum of the Dirichlet parameters.

    Notes
    -----
    Averages over pairs and triples of words become Σ αᵢμᵢμᵢ' and Σ αᵢ⟨μᵢ, v⟩μᵢμᵢ' by terms that depend on α₀. With the
    right one, and only then, all whitened contractions R(v) have the same eigenvectors: they commute. So α₀ is where
    the commutators of a few contractions are smallest. Pairs alone do not determine it: m'A⁺m = α₀ for every α₀.
    """
    k = family.n_components
    if k == 1:
        return Concentration(family.alpha0, np.inf)
    hints = np.linalg.qr(np.random.default_rng(0).standard_normal((k, k)))[0].T[:_N_HINTS]
    matrices = [family.hinted(hint).matrix for hint in hints]
    found = _minimize(_to_raw(np.eye(k), family.mean, matrices, hints, family.alpha0))
    replicates = [family.leave_one_out(hint) for hint in hints]
    logs = [
        np.log(_minimize(_to_raw(second, mean, [each.hinted[group] for each in replicates], hints, family.alpha0)))
        for group, (second, mean) in enumerate(zip(replicates[0].second, replicates[0].mean, strict=True))
    ]
    return Concentration(found, found * float(jackknife(np.array(logs))))


def _to_raw(second: Array, mean: Array, matrices: list[Array], hints: Array, alpha0: float) -> _RawMoments:
    """Undo what α₀ adds to averages over words."""
    pairs = (second + np.outer(mean, mean)) / (alpha0 * (alpha0 + 1))
    triples = [
        (matrix - _terms_without_triples(mean, pairs, hint, alpha0)) * 2 / (alpha0 * (alpha0 + 1) * (alpha0 + 2))
        for matrix, hint in zip(matrices, hints, strict=True)
    ]
    return _RawMoments(mean / alpha0, pairs, triples, hints)


def _terms_without_triples(mean: Array, pairs: Array, hint: Array, alpha0: float) -> Array:
    """Return ⟨m, v⟩mm' - α₀(α₀+1)/2 (⟨m, v⟩E[x1x2'] + qm' + mq') with q = E[⟨x3, v⟩x1], (k, k)."""
    score, crossed = float(mean @ hint), np.outer(pairs @ hint, mean)
    return np.asarray(score * np.outer(mean, mean) - alpha0 * (alpha0 + 1) / 2 * (score * pairs + crossed + crossed.T))


def _minimize(raw: _RawMoments) -> float:
    """Return the α₀ with the smallest commutators."""
    from scipy.optimize import minimize_scalar  # slow to import, and needed by few fits

    def evaluate(log: float) -> float:
        return float(np.log(_commutators(raw, float(np.exp(log)))))

    low, high = _RANGE
    steps = np.geomspace(low, high, _N_STEPS)
    best = int(np.argmin([evaluate(step) for step in np.log(steps)]))
    bounds = (float(np.log(steps[max(best - 1, 0)])), float(np.log(steps[min(best + 1, _N_STEPS - 1)])))
    return float(np.exp(minimize_scalar(evaluate, bounds=bounds, method="bounded").x))


def _commutators(raw: _RawMoments, alpha0: float) -> float:
    """Return the squared size of all commutators, relative to that of the products."""
    mean = alpha0 * raw.mean
    values, vectors = np.linalg.eigh(alpha0 * (alpha0 + 1) * raw.pairs - np.outer(mean, mean))
    root = vectors / np.sqrt(np.maximum(values, _MIN_VALUE * values[-1]))
    scale = alpha0 * (alpha0 + 1) * (alpha0 + 2) / 2
    whitened = [
        root.T @ (scale * triple + _terms_without_triples(mean, raw.pairs, hint, alpha0)) @ root
        for triple, hint in zip(raw.triples, raw.hints, strict=True)
    ]
    products = [one @ other for index, one in enumerate(whitened) for other in whitened[:index]]
    size = sum(float(np.sum(product**2)) for product in products)
    return sum(float(np.sum((product - product.T) ** 2)) for product in products) / size
