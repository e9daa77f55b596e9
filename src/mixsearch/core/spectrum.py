"""The directions that stand out from the noise: the number of components, and of directions in which samples vary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Matrix
from mixsearch.core.eigen import as_operator, top_eigenpairs
from mixsearch.core.frame import count_above, project
from mixsearch.core.moments import blas_threads_for, second_moment, squared_distances
from mixsearch.core.rows import CACHED_ROWS, Chunks, SampleChunk, row_slices, sum_chunks
from mixsearch.core.tuning import TUNING
from mixsearch.display import Card, plain_number, pluralize
from mixsearch.errors import Option, UnlikelyMixtureWarning

# Row i belongs to fold i mod 3, so sorted rows do no harm. Directions from two thirds of the samples resolve weaker
# components than those from a half. With more than three folds, training sets overlap so much that they agree by chance
# too often.
N_FOLDS = 3
# Directions of noise need not converge.
TOL, MAX_APPLICATIONS = 0.03, 6
# Rounding error relative to the largest value.
MIN_VALUE = 1e-10
# Directions to test at first, and at most: more than the number of components among which one hint can single one out.
FEW_DIRECTIONS, MAX_DIRECTIONS = 25, 100
# Samples with less than this share of their variance outside the signal space have no noise.
MIN_NOISE = 1e-9
# A feature with less than this share of the mean variance is constant up to rounding.
MIN_VARIANCE = 1e-12
# Energies that suffice for their distribution.
MAX_ENERGIES = 2_000


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Eigenvalues of a second moment, and which of them noise alone would not give.

    Attributes
    ----------
    values : array of shape (q,)
        Eigenvalues less the noise; of topics, on documents that were not used to find their directions.
    thresholds : array of shape (q,)
        What noise alone would reach.
    counts : array of bool of shape (q,)
        Which directions stand out from the noise.
    noise : float
        The noise level that was subtracted; 0 for topics, whose moments contain no noise.
    n_components : int
        Number of components that the directions correspond to.

    Notes
    -----
    The test does not check whether the model suits the data: if clusters are ellipsoids, their long axes carry signal
    as well and are counted.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> search = GaussianSearch("auto").fit(make_gaussian_mixture(4000, 20, 4, random_state=0).X)
    >>> search.spectrum_.n_components
    4
    """

    values: Array
    thresholds: Array
    counts: Array
    noise: float
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
        names = [f"{i + 1}{'' if counts else ' (noise)'}" for i, counts in enumerate(self.counts[:15])]
        return Card(
            title=f"Spectrum with {self.n_signal} of {len(self.counts)} directions above the noise",
            facts=[("components", f"{self.n_components:,}"), ("noise level", plain_number(self.noise))],
            bars=list(zip(names, self.values.tolist(), strict=False)),
            bars_title="eigenvalue of each direction",
        )

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def warnings(self, n_used: int, *, is_sought: bool) -> tuple[UnlikelyMixtureWarning, ...]:
        """Return the warnings about one component more than `n_used` directions; one alone may be `is_sought`."""
        facts = {"n_components": n_used + 1, "n_signal": self.n_signal, "n_used": n_used}
        if self.n_signal == 0 and (n_used or not is_sought):
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


def no_signal(fitted: str) -> UnlikelyMixtureWarning:
    """Return the warning that noise alone would give such samples."""
    return UnlikelyMixtureWarning(
        "No direction stands out from the noise: nothing separates components, and the fit of {fitted} may be noise. "
        "Provide more samples, and check that they were not whitened beforehand.",
        code="no_signal",
        fitted=fitted,
    )


# ---- Topics: directions that hold on other documents ----------------------------------------------------------------


def find_spectrum(
    moment_without: Callable[[int], Matrix],
    evaluate: Callable[[list[Array]], Array],
    n_directions: int,
    count_components: Callable[[int], int],
    *,
    min_held: float,
    **solver: Any,
) -> Spectrum:
    """Find directions without one fold, evaluate them on it, for each fold in turn, and count those that hold.

    `evaluate` maps directions for each fold, (d, q), to the sums over its samples of their parts of v'Av and of the
    squares of these, (2, q). A direction found on some samples is independent of the others, where it estimates v'Av
    whatever the noise: so no distribution of the eigenvalues of noise is needed.
    """

    def test_directions(q: int) -> Spectrum:
        found, directions = np.zeros(q), []
        for fold in range(N_FOLDS):
            moment = as_operator(moment_without(fold))
            values, vectors, _ = top_eigenpairs(moment, q, tol=TOL, max_applications=MAX_APPLICATIONS, **solver)
            found += values / N_FOLDS
            directions.append(vectors)
        held_out, squares = evaluate(directions)
        errors = NormalDist().inv_cdf(1 - TUNING.false_alarm / max(q, 1)) * np.sqrt(squares)
        thresholds = np.maximum.reduce([errors, min_held * found, np.full(q, MIN_VALUE * held_out.max(initial=0.0))])
        counts = held_out > thresholds
        return Spectrum(held_out, thresholds, counts, 0.0, count_components(int(np.count_nonzero(counts))))

    few = min(max(n_directions // 4, FEW_DIRECTIONS), n_directions)
    spectrum = test_directions(few)
    return spectrum if 2 * spectrum.n_signal <= few or few == n_directions else test_directions(n_directions)


def max_directions(n_samples: int, n_features: int, limit: int) -> int:
    """Return how many directions the samples of all folds but one can resolve."""
    return max(min(n_features, limit, n_samples * (N_FOLDS - 1) // N_FOLDS - 2), 0)


# ---- Samples whose noise is the same in every direction -------------------------------------------------------------


def spherical_spectrum(
    chunks: Chunks[SampleChunk], center: Array, count_components: Callable[[int], int], seed: int
) -> Spectrum:
    """Find the spectrum of samples whose noise is the same in every direction."""
    n, d = chunks.shape
    few = min(FEW_DIRECTIONS, d - 1, n - 2)
    with blas_threads_for(chunks):
        covariance = second_moment(chunks, center=center)
        for q in (few, min(MAX_DIRECTIONS, d - 1, n - 2)):
            values, vectors, _ = top_eigenpairs(covariance, q, tol=TOL, max_applications=MAX_APPLICATIONS, seed=seed)
            spectrum = _count_directions(chunks, center, covariance, values, vectors, seed)
            if 2 * spectrum.n_signal <= q:
                break
    return Spectrum(
        spectrum.values, spectrum.thresholds, spectrum.counts, spectrum.noise, count_components(spectrum.n_signal)
    )


def _count_directions(
    chunks: Chunks[SampleChunk], center: Array, covariance: Matrix, values: Array, vectors: Array, seed: int
) -> Spectrum:
    """Alternate between the directions above the noise and the energies of samples outside of these."""
    n, d = chunks.shape
    rank = noise_rank(covariance, chunks, center, min(len(values), d // 4), seed)
    trace = float(chunks.sum(lambda chunk: squared_distances(chunk.samples, center).sum())) / n
    X = chunks.thin(-(-n // MAX_ENERGIES)).chunk.samples
    squares, inside = squared_distances(X, center), project(X, vectors, center)
    n_signal = 0
    while True:
        energies = squares - np.sum(inside[:, :n_signal] ** 2, axis=1)
        spectrum = measure_spectrum(values, energies, rank=rank, n_samples=n, n_used=n_signal, trace=trace)
        if spectrum.n_signal <= n_signal:
            return spectrum
        n_signal = spectrum.n_signal


def measure_spectrum(
    values: Array, energies: Array, *, rank: int, n_samples: int, n_used: int, trace: float
) -> Spectrum:
    """Count the eigenvalues that stand out from the mean of those after them, given energies outside the first ones."""
    if trace - values[:n_used].sum() <= MIN_NOISE * trace:
        counts = np.arange(len(values)) < count_above(values)
        return Spectrum(values, np.zeros(len(values)), counts, 0.0, int(counts.sum()) + 1)
    tested = values[: max(rank - 1, 0)]
    levels = (trace - np.append(0.0, np.cumsum(tested))) / np.maximum(rank - np.arange(len(tested) + 1), 1)
    limits = noise_edge(energies, n_samples, rank) * levels[:-1]
    # From the last one on: many signals raise the level that the first one is compared with.
    above = np.flatnonzero(tested > limits)
    n_signal = int(above[-1]) + 1 if len(above) else 0
    noise = float(levels[n_signal])
    return Spectrum(tested - noise, limits - noise, np.arange(len(tested)) < n_signal, noise, n_signal + 1)


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
