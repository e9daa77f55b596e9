"""The directions that stand out from the noise: the number of components, and of directions in which samples vary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.core.eigen import as_operator, top_eigenpairs
from mixsearch.core.frame import count_above, project
from mixsearch.core.moments import (
    blas_threads_for,
    gram,
    is_dense,
    multiply_gram,
    squared_distances,
    symmetric_operator,
)
from mixsearch.core.rows import CACHED_ROWS, Chunks, SampleChunk, add_all, row_slices, sum_chunks
from mixsearch.core.tuning import TUNING
from mixsearch.display import Card, plain_number, pluralize
from mixsearch.errors import Option, UnlikelyMixtureWarning

# Row i belongs to fold i mod 3, so sorted rows do no harm. Directions from two thirds of the samples resolve weaker
# components than those from a half. With more than three folds, training sets overlap so much that they agree by chance
# too often.
N_FOLDS = 3
# Any direction gives a valid test, so those of noise need not converge.
TOL, MAX_APPLICATIONS = 0.03, 6
# Rounding error relative to the largest value.
MIN_VALUE = 1e-10
MIN_DIRECTIONS = 25
# Directions to test: more than the number of components among which one hint can single one out.
MAX_DIRECTIONS = 100


class FoldSums(NamedTuple):
    """Sums over samples of their contributions to v'Av for q directions v, and to the noise level."""

    n: int
    total: Array  # (q + 1,): v'Av plus noise for each direction v; last the trace, or the noise level itself
    products: Array  # (q + 1, q + 1): of the same contributions


@dataclass(frozen=True, slots=True)
class Folds:
    """Samples in folds: the second moment without a fold, and held-out sums of directions found on the others."""

    second_moment_without: Callable[[int], Matrix]  # fold -> second moment of all other samples, A plus noise, (d, d)
    evaluate: Callable[[list[Array]], FoldSums]  # directions for each fold, (d, q) -> their sums over that fold


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Eigenvalues of a second moment, as found and as they hold on samples not used to find them.

    Attributes
    ----------
    found : array of shape (q,)
        Eigenvalues of the second moment minus the noise, on the samples that the directions come from. Those of noise
        are above 0 too, because the directions were chosen for them.
    held_out : array of shape (q,)
        The same directions on held-out samples. Those of noise are around 0.
    stderr : array of shape (q,)
        Standard errors of `held_out`.
    counts : array of bool of shape (q,)
        Which directions stand out from the noise.
    noise : float
        Noise level that was subtracted: the average over all directions that do not count; 0 for topics, whose moments
        contain no noise.
    threshold : float
        A direction counts if it is at least `threshold` standard errors above the noise.
    min_held : float
        Fraction of `found` that must hold on held-out samples.
    n_components : int
        Number of components that the directions correspond to.

    Notes
    -----
    A direction found on some samples is independent of the others, where it estimates v'Av whatever the noise. So no
    distribution of the noise's own eigenvalues is needed: variances may differ between components, tails may be heavy,
    and features may outnumber samples. The test does not check whether the model suits the data: if clusters are
    ellipsoids, their long axes carry signal as well and are counted.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> search = GaussianSearch("auto").fit(make_gaussian_mixture(4000, 20, 4, random_state=0).X)
    >>> search.spectrum_.n_components
    4
    """

    found: Array
    held_out: Array
    stderr: Array
    counts: Array
    noise: float
    threshold: float
    min_held: float
    n_components: int

    @property
    def n_signal(self) -> int:
        """Number of directions that stand out from the noise."""
        return int(np.count_nonzero(self.counts))

    @property
    def is_full(self) -> bool:
        """Whether every tested direction stands out, so that there may be more."""
        return bool(len(self.counts)) and bool(self.counts.all())

    def _card(self) -> Card:
        kinds = ["" if counts else " (noise)" for counts in self.counts]
        names = [f"{i + 1} ± {plain_number(error)}{kinds[i]}" for i, error in enumerate(self.stderr[:15].tolist())]
        return Card(
            title=f"Spectrum with {self.n_signal} of {len(self.counts)} directions above the noise",
            facts=[
                ("components", f"{self.n_components:,}"),
                ("noise level", plain_number(self.noise)),
                ("a direction counts", f"from {self.threshold:.1f} standard errors on"),
            ],
            bars=list(zip(names, self.held_out.tolist(), strict=False)),
            bars_title="each direction on held-out samples",
        )

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


def find_spectrum(
    folds: Folds,
    n_directions: int,
    count_components: Callable[[int], int],
    *,
    n_features: int | None,
    min_held: float = 0.0,
    seed: int,
    n_threads: int = 1,
    block: int | None = None,
) -> Spectrum:
    """Find directions without one fold, evaluate them on it, for each fold in turn, and count those that hold."""

    def test_directions(q: int) -> Spectrum:
        found, directions = np.zeros(q), []
        for fold in range(N_FOLDS):
            moment = as_operator(folds.second_moment_without(fold))
            values, vectors, _ = top_eigenpairs(
                moment, q, tol=TOL, max_applications=MAX_APPLICATIONS, seed=seed, n_threads=n_threads, block=block
            )
            found += values / N_FOLDS
            directions.append(vectors)
        return _count_signal(found, folds.evaluate(directions), n_features, count_components, min_held)

    few = min(max(n_directions // 4, MIN_DIRECTIONS), n_directions)
    spectrum = test_directions(few)
    return spectrum if 2 * spectrum.n_signal <= few or few == n_directions else test_directions(n_directions)


def max_directions(n_samples: int, n_features: int, limit: int) -> int:
    """Return how many directions the samples of all folds but one can resolve."""
    return max(min(n_features, limit, n_samples * (N_FOLDS - 1) // N_FOLDS - 2), 0)


def sum_held_out(values: Array, noise: Array) -> FoldSums:
    """Sum the contributions of held-out samples."""
    columns = np.column_stack([values, noise])
    return FoldSums(len(columns), columns.sum(axis=0), columns.T @ columns)


def _count_signal(
    found: Array, sums: FoldSums, n_features: int | None, count_components: Callable[[int], int], min_held: float
) -> Spectrum:
    """Alternate between the noise level, from directions that do not count, and the directions above it.

    Notes
    -----
    A direction's value above the noise is linear in the contributions of a sample, so the sums suffice. A noisy sample
    contributes more to both, so the difference has a smaller variance than either.
    """
    q = len(found)
    threshold = NormalDist().inv_cdf(1 - TUNING.false_alarm / max(q, 1))
    scatter = sums.products - np.outer(sums.total, sums.total) / max(sums.n, 1)
    rounding, counts = MIN_VALUE * np.abs(sums.total[:q]).max(initial=0.0), np.ones(q, dtype=bool)
    for _ in range(10):
        # The noise level as a combination of the sums: what is left of the trace, per remaining direction.
        noise = np.append(np.zeros(q), 1.0)
        if n_features is not None:
            noise = np.append(-counts.astype(np.float64), 1.0) / (n_features - np.count_nonzero(counts))
        level, above = float(sums.total @ noise), np.eye(q + 1, q) - noise[:, None]
        held_out = sums.total @ above
        stderr = np.sqrt(np.maximum(np.einsum("ij,ij->j", above, scatter @ above), 0))
        needed = np.maximum.reduce([threshold * stderr, min_held * (found - level), np.full(q, rounding)])
        before, counts = counts, held_out > needed
        if np.array_equal(counts, before):
            break
    n_components = count_components(int(np.count_nonzero(counts)))
    return Spectrum(found - level, held_out, stderr, counts, level, threshold, min_held, n_components)


def spherical_spectrum(
    chunks: Chunks[SampleChunk], center: Array, count_components: Callable[[int], int], seed: int
) -> Spectrum:
    """Find the spectrum of samples whose noise is the same in every direction."""
    (n, d, dtype, _), folds = chunks.layout, range(N_FOLDS)
    n_training = [n - len(range(fold, n, N_FOLDS)) for fold in folds]

    def multiply_without(chunk: SampleChunk, left_out: int, Q: Array) -> Array:
        return add_all(multiply_gram(chunk.thin(N_FOLDS, fold), Q, None, center) for fold in folds if fold != left_out)

    if is_dense(chunks.layout):
        grams = chunks.sum(lambda chunk: np.stack([gram(chunk.thin(N_FOLDS, fold), None, center) for fold in folds]))

    def moment_without(fold: int) -> Matrix:
        if is_dense(chunks.layout):
            return np.asarray(np.delete(grams, fold, axis=0).sum(axis=0) / n_training[fold])
        return symmetric_operator(
            d, dtype, lambda Q: chunks.sum(lambda chunk: multiply_without(chunk, fold, Q)) / n_training[fold]
        )

    def evaluate(directions: list[Array]) -> FoldSums:
        def sum_chunk(chunk: SampleChunk) -> FoldSums:
            return add_all(
                _evaluate_spheres(chunk.thin(N_FOLDS, fold).samples, V, center, n) for fold, V in enumerate(directions)
            )

        return chunks.sum(sum_chunk)

    with blas_threads_for(chunks):
        n_directions = max_directions(n, d - 1, MAX_DIRECTIONS)
        return find_spectrum(Folds(moment_without, evaluate), n_directions, count_components, n_features=d, seed=seed)


def _evaluate_spheres(X: Samples, V: Array, center: Array, n: int) -> FoldSums:
    """Sum ⟨x - center, v⟩² / n over samples for each direction, and |x - center|² / n."""
    noise = squared_distances(X, center) / n

    def work(rows: slice) -> FoldSums:
        return sum_held_out(project(X[rows], V, center).astype(np.float64) ** 2 / n, noise[rows])

    return sum_chunks(work, row_slices(X.shape[0]))


# ---- Noise ----------------------------------------------------------------------------------------------------------

# Samples with less than this share of their variance outside the signal space have no noise.
MIN_NOISE = 1e-9
# A feature with less than this share of the mean variance is constant up to rounding.
MIN_VARIANCE = 1e-12
# Energies that suffice for their distribution.
MAX_ENERGIES = 2_000


def noise_rank(covariance: Matrix, chunks: Chunks[Any], center: Array, n_signal: int, seed: int) -> int:
    """Return the number of directions in which samples vary, at most d, less those that are nearly constant.

    Notes
    -----
    With enough samples the eigenvalues tell: those after a large gap are not of the noise. Otherwise samples vary in
    fewer directions than their noise, and features that are constant, or equal up to scale, are counted directly.
    """
    n, d = chunks.shape
    if not isinstance(covariance, np.ndarray) or n < TUNING.min_samples_per_feature * d:
        return _count_features(chunks, center, seed)
    typical = float(np.median(np.diag(covariance)))
    try:  # a tenth of the time of all eigenvalues, which most samples do not need
        np.linalg.cholesky(covariance - typical / TUNING.max_gap**2 * np.eye(d))
        if np.diag(covariance).min() * TUNING.max_gap >= typical:
            return d
    except np.linalg.LinAlgError:
        pass
    values = np.linalg.eigvalsh(covariance)[::-1]
    rank = count_above(values, precision=chunks.layout.dtype)
    gaps = np.flatnonzero(values[n_signal + 1 : rank] * TUNING.max_gap < values[n_signal:rank][:-1])
    return n_signal + int(gaps[0]) + 1 if len(gaps) else rank


def _count_features(chunks: Chunks[SampleChunk], center: Array, seed: int) -> int:
    """Count the features that vary, equal ones once, by random combinations of the centered samples."""

    def combine(chunk: SampleChunk) -> tuple[Array, Array]:
        X: Any = chunk.samples
        is_sparse = sp.issparse(X)
        weights = np.random.default_rng([seed, chunk.first]).standard_normal((X.shape[0], 3))

        def work(rows: slice) -> tuple[Array, Array]:
            part = X[rows].toarray() if is_sparse else X[rows]
            part = part.astype(np.float64) - center  # in double precision, so that equal features stay equal
            return np.einsum("ij,ij->j", part, part), part.T @ weights[rows]

        return sum_chunks(work, row_slices(X.shape[0], CACHED_ROWS))

    squares, combinations = chunks.sum(combine)
    varies = squares > MIN_VARIANCE * squares.mean()
    scaled = combinations[varies] / np.sqrt(squares[varies, None])
    scaled *= np.where(scaled[:, :1] < 0, -1, 1)
    return len(np.unique(np.round(scaled, 7), axis=0))


def noise_edge(energies: Array, n_samples: int, n_directions: int) -> float:
    """Return the largest eigenvalue that noise alone gives, relative to its mean variance.

    Notes
    -----
    With tᵢ = energy / mean energy, the spectrum of Σ tᵢzᵢzᵢ'/n ends at min over s of d/(ns) + E[t / (1 - ts)], with s
    between 0 and 1/max t (Marchenko and Pastur). If all are equal that is (1 + √(d/n))². The largest eigenvalue varies
    around it as if n were smaller by E[t²]: noise goes two deviations beyond in less than 1 of 100 fits (Tracy, Widom).
    """
    mean = energies.mean()
    if not mean > 0:
        return 1.0
    t = energies[:, None] / mean
    s = np.linspace(0.02, 0.98, 49) / t.max()
    edge = float(np.min(n_directions / n_samples / s + np.mean(t / (1 - t * s), axis=0)))
    rows, columns = np.sqrt(n_samples / np.mean(t**2)), np.sqrt(n_directions)
    return edge * (1 + TUNING.margin * float(np.cbrt(1 / rows + 1 / columns) / (rows + columns)))


@dataclass(frozen=True, slots=True)
class SignalCheck:
    """Eigenvalues above the mean variance of the noise, and how many of them stand out."""

    excess: Array  # the largest eigenvalues less the noise, (q,), falling
    n_signal: int
    is_sought: bool = False  # whether there should be some: one component needs none

    def warnings(self, n_used: int) -> tuple[UnlikelyMixtureWarning, ...]:
        """Return the warnings about a mixture whose components differ in the first directions."""
        facts = {"n_components": n_used + 1, "n_signal": self.n_signal, "n_used": n_used}
        if self.n_signal == 0 and (n_used or self.is_sought):
            return (no_signal(f"{n_used + 1} components" if n_used else "one component"),)
        if self.n_signal == n_used:
            return ()
        sentence, code = (
            "The number of directions that stand out from the noise is {n_signal}, but {n_components} "
            + pluralize(n_used + 1, "component differs", "components differ")
            + " in {n_used} at most: there are more components, or clusters that are not spherical. Fit more of them "
            "({argument}).",
            "too_few_components",
        )
        if self.n_signal < n_used:
            sentence, code = (
                "{n_components} components differ in {n_used} directions, but only {n_signal} stand out from the "
                "noise: some components may be noise. Fit fewer of them ({argument}), or provide more samples.",
                "too_many_components",
            )
        return (UnlikelyMixtureWarning(sentence, code=code, argument=Option("n_components"), **facts),)


def check_spectrum(projected: Chunks[Any], values: Array, rank: int, n_used: int, trace: float) -> SignalCheck:
    """Count the eigenvalues that stand out from the mean of those after them, given the energies of the noise."""
    n = projected.n_rows
    if trace - values[:n_used].sum() <= MIN_NOISE * trace:
        return SignalCheck(values, count_above(values))
    energies = projected.thin(-(-n // MAX_ENERGIES)).chunk.energy
    tested = values[: max(rank - 1, 0)]
    left = trace - np.append(0.0, np.cumsum(tested))
    levels = left / np.maximum(rank - np.arange(len(left)), 1)
    # From the last one on: many signals raise the level that the first one is compared with.
    above = np.flatnonzero(tested > noise_edge(energies, n, rank) * levels[:-1])
    n_signal = int(above[-1]) + 1 if len(above) else 0
    return SignalCheck(np.asarray(values) - levels[n_signal], n_signal)


def no_signal(fitted: str) -> UnlikelyMixtureWarning:
    """Return the warning that noise alone would give such samples."""
    return UnlikelyMixtureWarning(
        "No direction stands out from the noise: nothing separates components, and the fit of {fitted} may be noise. "
        "Provide more samples, and check that they were not whitened beforehand.",
        code="no_signal",
        fitted=fitted,
    )
