"""The number of components: how many directions stand out from noise that is the same in every direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Matrix
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import count_above, project
from mixsearch.core.moments import blas_threads_for, second_moment, squared_distances, total_variance
from mixsearch.core.rows import CACHED_ROWS, Chunks, SampleChunk, add_all, row_slices
from mixsearch.core.tuning import TUNING
from mixsearch.errors import Option, UnlikelyMixtureWarning

# Directions of noise need not converge.
TOL, MAX_APPLICATIONS = 0.03, 6
# Directions to test: more than the number of components among which one hint can single one out.
MAX_DIRECTIONS = 100
# Samples with less than this share of their variance outside the signal space have no noise.
MIN_NOISE = 1e-9
# A feature with less than this share of the mean variance is constant up to rounding.
MIN_VARIANCE = 1e-12
# Energies that suffice for their distribution.
MAX_ENERGIES = 2_000


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of a second moment, and which of them noise alone would not give.

    Attributes
    ----------
    values : array of shape (q,)
        Eigenvalues less the noise.
    thresholds : array of shape (q,)
        What noise alone would reach.
    counts : array of bool of shape (q,)
        Which directions stand out from the noise.
    noise : float
        The noise level that was subtracted.
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


def check_count(spectrum: Spectrum, n_used: int | None = None) -> tuple[UnlikelyMixtureWarning, ...]:
    """Warn unless `n_used` directions stand out, or, where they were counted, some but not all."""
    n_signal, n_tested = spectrum.n_signal, len(spectrum.counts)
    if n_signal == n_used or (n_used is None and 0 < n_signal < n_tested):
        return ()
    more = "there are more components, or clusters that are not spherical. Fit more of them ({argument})."
    if not n_signal:
        sentence = (
            "No direction stands out from the noise: nothing separates components, which may be noise. Provide more "
            "samples, and check that they were not whitened beforehand."
        )
    elif n_used is None:
        sentence = "All {n_tested} directions that were tested stand out from the noise: " + more
    elif n_signal > n_used:
        sentence = "{n_signal} directions stand out from the noise, where this fit has {n_used}: " + more
    else:
        sentence = (
            "Of {n_used} directions in which the components of this fit differ, {n_signal} stand out from the noise. "
            "Fit fewer components ({argument}), which may be noise, or provide more samples."
        )
    facts: dict[str, Any] = {"n_signal": n_signal, "n_used": n_used, "n_tested": n_tested}
    argument = Option("n_components")
    return (UnlikelyMixtureWarning(sentence, code="component_count", argument=argument, **facts),)


def count_directions(chunks: Chunks[SampleChunk], center: Array, seed: int) -> Spectrum:
    """Count the directions above the noise; one component more than these differ in them.

    It alternates between these directions and the energies of samples outside of them.
    """
    n, d = chunks.shape
    n_tested = min(MAX_DIRECTIONS, d - 1, max((n - 2) // 2, 1))
    with blas_threads_for(chunks):
        covariance = second_moment(chunks, center=center)
        values, vectors, _ = top_eigenpairs(covariance, n_tested, tol=TOL, max_applications=MAX_APPLICATIONS, seed=seed)
    rank = noise_rank(covariance, chunks, center, min(n_tested, d // 4))
    trace = total_variance(covariance, chunks, center)
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


def noise_rank(covariance: Matrix, chunks: Chunks[Any], center: Array, n_signal: int) -> int:
    """Return the number of directions in which samples vary, at most d, less those that are nearly constant.

    Notes
    -----
    With enough samples the eigenvalues tell: those far below the largest one of the noise are not of the noise.
    Otherwise samples vary in fewer directions than their noise, and all features count that are not constant.
    """
    n, d = chunks.shape
    if not isinstance(covariance, np.ndarray) or n < TUNING.min_samples_per_feature * d:
        return _count_features(chunks, center)
    typical = float(np.median(np.diag(covariance)))
    try:  # a tenth of the time of all eigenvalues, which most samples do not need
        np.linalg.cholesky(covariance - typical / TUNING.max_gap**2 * np.eye(d))
        if np.diag(covariance).min() * TUNING.max_gap >= typical:
            return d
    except np.linalg.LinAlgError:
        pass
    noise = np.linalg.eigvalsh(covariance)[::-1][n_signal:]
    return n_signal + int(np.count_nonzero(noise * TUNING.max_gap > noise[0]))


def _count_features(chunks: Chunks[SampleChunk], center: Array) -> int:
    """Count the features that vary."""

    def sum_squares(chunk: SampleChunk) -> Any:
        X: Any = chunk.samples
        is_sparse, slices = sp.issparse(X), row_slices(X.shape[0], CACHED_ROWS)
        parts = (X[rows].toarray() if is_sparse else X[rows] for rows in slices)
        return add_all(np.sum((part - center) ** 2, axis=0) for part in parts)

    squares = chunks.sum(sum_squares)
    return int(np.count_nonzero(squares > MIN_VARIANCE * squares.mean()))


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
