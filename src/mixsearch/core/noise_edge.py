"""Which eigenvalues of a covariance stand out from those that noise alone would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Matrix
from mixsearch.core.frame import count_above
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.data.rows import Chunk, Chunks, SampleChunk
from mixsearch.display import pluralize
from mixsearch.errors import Option, UnlikelyMixtureWarning

# Eigenvalues of spherical noise differ by less than this factor from the next one if there are enough samples.
MAX_GAP, MIN_SAMPLES_PER_FEATURE = 1e3, 1.5
# A feature with less than this share of the mean variance is constant up to rounding.
MIN_VARIANCE = 1e-12
# Random combinations of the samples that features are compared by, and the digits in which equal ones agree.
N_COMBINATIONS, DIGITS = 3, 7
# Deviations beyond the edge: noise goes there in less than 1 of 100 fits (Tracy and Widom).
MARGIN = 2.0
# Candidates for the minimum in `noise_edge`, as shares of the interval in which it lies.
_SHARES = np.linspace(0.02, 0.98, 49)
# Energies that suffice for their distribution.
MAX_ENERGIES = 2_000
# Samples with less than this share of their variance outside the signal space have no noise.
MIN_NOISE = 1e-9


class NoiseRank(NamedTuple):
    """The number of directions in which samples vary: at all, and by about as much as the noise."""

    total: int
    noisy: int  # less those that are nearly constant


def noise_rank(covariance: Matrix, chunks: Chunks[Any], center: Array, n_signal: int, seed: int) -> NoiseRank:
    """Return the number of directions in which samples vary, at most d.

    Notes
    -----
    With enough samples the eigenvalues tell: those after a large gap are not of the noise. Otherwise samples vary in
    fewer directions than their noise, and features that are constant, or equal up to scale, are counted directly.
    """
    n, d = chunks.shape
    if not isinstance(covariance, np.ndarray) or n < MIN_SAMPLES_PER_FEATURE * d:
        rank = _count_features(chunks.sum(_combine, center, seed))
        return NoiseRank(rank, rank)
    if _is_regular(covariance):
        return NoiseRank(d, d)
    values = np.linalg.eigvalsh(covariance)[::-1]
    rank = count_above(values, precision=chunks.layout.dtype)
    gaps = np.flatnonzero(values[n_signal + 1 : rank] * MAX_GAP < values[n_signal:rank][:-1])
    return NoiseRank(rank, n_signal + int(gaps[0]) + 1 if len(gaps) else rank)


def _is_regular(covariance: Array) -> bool:
    """Return whether no eigenvalue is far below the others, as a Cholesky factor shows in a tenth of the time."""
    variances = np.diag(covariance)
    typical = float(np.median(variances))
    if variances.min() * MAX_GAP < typical:
        return False
    try:
        np.linalg.cholesky(covariance - typical / MAX_GAP**2 * np.eye(len(covariance)))
    except np.linalg.LinAlgError:
        return False
    return True


class FeatureSums(NamedTuple):
    """Sums of centered samples for each feature."""

    squares: Array  # (d,)
    combinations: Array  # (d, 3)


def _combine(chunk: SampleChunk, center: Array, seed: int) -> FeatureSums:
    """Sum centered samples with random weights, in double precision so that equal features stay equal."""
    X: Any = chunk.samples
    is_sparse = sp.issparse(X)
    weights = np.random.default_rng([seed, chunk.first]).standard_normal((X.shape[0], N_COMBINATIONS))

    def work(rows: slice) -> FeatureSums:
        part = X[rows].astype(np.float64)
        if is_sparse:
            total, squares = np.asarray(part.sum(axis=0)).ravel(), np.asarray(part.multiply(part).sum(axis=0)).ravel()
            squares = squares - 2 * center * total + part.shape[0] * center**2
            return FeatureSums(squares, part.T @ weights[rows] - np.outer(center, weights[rows].sum(axis=0)))
        part = part - center
        return FeatureSums(np.einsum("ij,ij->j", part, part), part.T @ weights[rows])

    return sum_chunks(work, row_slices(X.shape[0]))


def _count_features(sums: FeatureSums) -> int:
    """Count the features that vary, equal ones once."""
    varies = sums.squares > MIN_VARIANCE * sums.squares.mean()
    scaled = sums.combinations[varies] / np.sqrt(sums.squares[varies, None])
    scaled *= np.where(scaled[:, :1] < 0, -1, 1)
    return len(np.unique(np.round(scaled, DIGITS), axis=0))


def noise_edge(energies: Array, n_samples: int, n_directions: int) -> float:
    """Return the largest eigenvalue that noise alone gives, relative to its mean variance.

    Notes
    -----
    With tᵢ = energy / mean energy, the spectrum of Σ tᵢzᵢzᵢ'/n ends at min over s of d/(ns) + E[t / (1 - ts)], with s
    between 0 and 1/max t (Marchenko and Pastur). If all are equal that is (1 + √(d/n))². The largest eigenvalue varies
    around it as if n were smaller by E[t²].
    """
    mean = energies.mean()
    if not mean > 0:
        return 1.0
    t = energies[:, None] / mean
    s = _SHARES / t.max()
    edge = float(np.min(n_directions / n_samples / s + np.mean(t / (1 - t * s), axis=0)))
    rows, columns = np.sqrt(n_samples / np.mean(t**2)), np.sqrt(n_directions)
    deviation = np.cbrt(1 / rows + 1 / columns) / (rows + columns)
    return edge * (1 + MARGIN * float(deviation))


@dataclass(frozen=True, slots=True)
class SignalCheck:
    """Eigenvalues above the mean variance of the noise, and how many of them stand out."""

    excess: Array  # the largest eigenvalues less the noise, (q,), falling
    n_signal: int
    is_sought: bool = False  # whether there should be some: one component needs none

    def share_of(self, n_used: int) -> float:
        """Return the share of what stands out from the noise that the first directions hold."""
        return float(self.excess[:n_used].sum() / self.excess[: max(self.n_signal, n_used)].sum())

    def warnings(self, n_used: int) -> tuple[UnlikelyMixtureWarning, ...]:
        """Return the warnings about a mixture whose components differ in the first directions."""
        facts = {"n_components": n_used + 1, "n_signal": self.n_signal, "n_used": n_used}
        if self.n_signal > n_used:
            return (
                UnlikelyMixtureWarning(
                    "The number of directions that stand out from the noise is {n_signal}, but {n_components} "
                    + pluralize(n_used + 1, "component differs", "components differ")
                    + " in {n_used} at most: there are more components, or clusters that are not "
                    "spherical. Fit more of them ({argument}).",
                    code="too_few_components",
                    argument=Option("n_components"),
                    **facts,
                ),
            )
        if self.n_signal == 0 and (n_used or self.is_sought):
            return (no_signal(f"{n_used + 1} components" if n_used else "one component"),)
        if self.n_signal == n_used:
            return ()
        return (
            UnlikelyMixtureWarning(
                "{n_components} components differ in {n_used} directions, but only {n_signal} stand out from the "
                "noise: some components may be noise. Fit fewer of them ({argument}), or provide more samples.",
                code="too_many_components",
                argument=Option("n_components"),
                **facts,
            ),
        )


def no_signal(fitted: str) -> UnlikelyMixtureWarning:
    """Return the warning that noise alone would give such samples."""
    return UnlikelyMixtureWarning(
        "No direction stands out from the noise: nothing separates components, and the fit of {fitted} may be noise. "
        "Provide more samples, and check that they were not whitened beforehand.",
        code="no_signal",
        fitted=fitted,
    )


def check_signal(values: Array, trace: float, energies: Array, n_samples: int, rank: int) -> SignalCheck:
    """Count the eigenvalues that stand out from the mean of those after them."""
    tested = values[: max(rank - 1, 0)]
    left = trace - np.append(0.0, np.cumsum(tested))
    levels = left / np.maximum(rank - np.arange(len(left)), 1)
    # From the last one on: many signals raise the level that the first one is compared with.
    above = np.flatnonzero(tested > noise_edge(energies, n_samples, rank) * levels[:-1])
    n_signal = int(above[-1]) + 1 if len(above) else 0
    return SignalCheck(np.asarray(values) - levels[n_signal], n_signal)


@dataclass(frozen=True)
class EnergyChunk(Chunk):
    """The energy of samples only."""

    energy: Array  # (n,)


def _get_energy(chunk: Any) -> EnergyChunk:
    return EnergyChunk(chunk.first, chunk.energy)


def check_spectrum(projected: Chunks[Any], values: Array, rank: NoiseRank, n_used: int, trace: float) -> SignalCheck:
    """Count the directions that stand out, where nearly constant ones either count as noise or do not."""
    n = projected.n_rows
    if trace - values[:n_used].sum() <= MIN_NOISE * trace:
        return SignalCheck(values, count_above(values))
    energies = projected.thin(-(-n // MAX_ENERGIES)).map(_get_energy).collect().chunk.energy
    check = check_signal(values, trace, energies, n, rank.noisy)
    return check if check.n_signal == n_used else check_signal(values, trace, energies, n, rank.total)
