"""Select the rank: count the directions found on some folds of the samples that hold on the remaining fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.core.eigen import as_operator, top_eigenpairs
from mixsearch.core.frame import project
from mixsearch.core.second_moment import (
    blas_threads_for,
    gram,
    is_dense,
    multiply_gram,
    squared_distances,
    symmetric_operator,
)
from mixsearch.data.chunks import ArraySum, add_all, row_slices, sum_chunks
from mixsearch.data.rows import Chunk, Chunks, S, SampleChunk
from mixsearch.display import Card, plain_number

# Row i belongs to fold i mod 3, so sorted rows do no harm. Directions from two thirds of the samples resolve weaker
# components than those from a half. With more than three folds, training sets overlap so much that they agree by chance
# too often.
N_FOLDS = 3
# Probability that noise alone adds a direction, over all tests, if the folds were independent. They share training
# samples; measured, noise adds one in about 1 of 100 fits.
FALSE_ALARM = 0.002
# Any direction gives a valid test, so those of noise need not converge.
TOL, MAX_APPLICATIONS = 0.03, 6
# Rounding error relative to the largest value.
MIN_VALUE = 1e-10
MIN_DIRECTIONS = 25
_MAX_ROUNDS = 10
_MAX_BARS = 15
_ARRAYS = ("found", "held_out", "stderr", "counts")
_SCALARS = ("noise", "threshold", "min_held", "n_components")
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

    def as_dict(self) -> dict[str, Any]:
        """Return all attributes, ready for JSON.

        Returns
        -------
        dict
        """
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        return arrays | {name: getattr(self, name) for name in _SCALARS}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Spectrum:
        """Restore a spectrum from `as_dict`.

        Parameters
        ----------
        stored : dict
            As `as_dict` returns it.

        Returns
        -------
        Spectrum
        """
        scalars = {name: stored[name] for name in _SCALARS}
        return cls(**scalars | {name: np.array(stored[name]) for name in _ARRAYS})

    def _card(self) -> Card:
        at_least = f", if {self.min_held:.0%} of its value hold on held-out samples" if self.min_held else ""
        errors, kinds = self.stderr.tolist(), ["" if counts else " (noise)" for counts in self.counts]
        names = [f"{i + 1} ± {plain_number(error)}{kinds[i]}" for i, error in enumerate(errors[:_MAX_BARS])]
        return Card(
            title=f"Spectrum with {self.n_signal} of {len(self.counts)} directions above the noise",
            facts=[
                ("components", f"{self.n_components:,}"),
                ("noise level", plain_number(self.noise)),
                ("a direction counts", f"from {self.threshold:.1f} standard errors on{at_least}"),
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
        found, sums = _cross_validate(folds, q, {"seed": seed, "n_threads": n_threads, "block": block})
        return _count_signal(found, sums, n_features, count_components, min_held)

    few = min(max(n_directions // 4, MIN_DIRECTIONS), n_directions)
    spectrum = test_directions(few)
    return spectrum if 2 * spectrum.n_signal <= few or few == n_directions else test_directions(n_directions)


def _cross_validate(folds: Folds, n_directions: int, solver: dict[str, Any]) -> tuple[Array, FoldSums]:
    """Return the eigenvalues on the training folds, (q,), averaged, and the sums of all held-out samples."""
    found, directions = np.zeros(n_directions), []
    for fold in range(N_FOLDS):
        values, vectors, _ = top_eigenpairs(
            as_operator(folds.second_moment_without(fold)),
            n_directions,
            tol=TOL,
            max_applications=MAX_APPLICATIONS,
            **solver,
        )
        found += values / N_FOLDS
        directions.append(vectors)
    return found, folds.evaluate(directions)


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
    """Alternate between the noise level, from directions that do not count, and the directions above it."""
    q = len(found)
    threshold = NormalDist().inv_cdf(1 - FALSE_ALARM / max(q, 1))
    counts = np.ones(q, dtype=bool)
    for _ in range(_MAX_ROUNDS):
        noise = _noise_weights(counts, n_features)
        level = float(sums.total @ noise)
        held_out, stderr = _subtract_noise(sums, noise)
        rounding = MIN_VALUE * np.abs(sums.total[:q]).max(initial=0.0)
        needed = np.maximum.reduce([threshold * stderr, min_held * (found - level), np.full(q, rounding)])
        before, counts = counts, held_out > needed
        if np.array_equal(counts, before):
            break
    n_components = count_components(int(np.count_nonzero(counts)))
    return Spectrum(found - level, held_out, stderr, counts, level, threshold, min_held, n_components)


def _noise_weights(counts: Array, n_features: int | None) -> Array:
    """Return the noise level as a linear combination of `FoldSums.total`, (q + 1,).

    It is the trace minus the directions that count, per remaining direction.
    """
    if n_features is None:
        return np.append(np.zeros(len(counts)), 1.0)
    return np.append(-counts.astype(np.float64), 1.0) / (n_features - np.count_nonzero(counts))


def _subtract_noise(sums: FoldSums, noise: Array) -> tuple[Array, Array]:
    """Return each direction's value above the noise, (q,), and its standard error.

    Notes
    -----
    Both are linear in the contributions of a sample, so the sums suffice. A noisy sample contributes more to both, so
    the difference has a smaller variance than either.
    """
    q = len(noise) - 1
    above = np.eye(q + 1, q) - noise[:, None]
    scatter = sums.products - np.outer(sums.total, sums.total) / max(sums.n, 1)
    variance = np.einsum("ij,ij->j", above, scatter @ above)
    return sums.total @ above, np.sqrt(np.maximum(variance, 0))


def spherical_spectrum(
    chunks: Chunks[SampleChunk], center: Array, count_components: Callable[[int], int], seed: int
) -> Spectrum:
    """Find the spectrum of samples whose noise is the same in every direction."""
    n, d = chunks.shape
    folds = Folds(
        second_moment_without(chunks, None, (), center),
        lambda directions: chunks.sum(_evaluate_spheres, directions, center, n),
    )
    with blas_threads_for(chunks):
        return find_spectrum(folds, max_directions(n, d - 1, MAX_DIRECTIONS), count_components, n_features=d, seed=seed)


def _evaluate_spheres(chunk: SampleChunk, directions: list[Array], center: Array, n: int) -> FoldSums:
    """Sum ⟨x - center, v⟩² / n for each direction of a sample's fold, and |x - center|² / n."""
    sums = []
    for fold, V in zip(split_folds(chunk), directions, strict=True):
        X = fold.samples
        sums.append(evaluate_directions(X, center, np.full(X.shape[0], 1 / n), squared_distances(X, center) / n, V))
    return add_all(sums)


def split_folds(chunk: S) -> list[S]:
    """Split the rows of a chunk into folds."""
    return [chunk.thin(N_FOLDS, fold) for fold in range(N_FOLDS)]


def second_moment_without(
    chunks: Chunks[Any],
    weigh: Callable[..., Array] | None,
    shared: tuple[Any, ...],
    center: Array | None = None,
) -> Callable[[int], Matrix]:
    """Return a function from a fold to the second moment of the samples outside it."""
    n, d, dtype, _ = chunks.layout
    n_training = [n - len(range(fold, n, N_FOLDS)) for fold in range(N_FOLDS)]
    if is_dense(chunks.layout):
        grams = chunks.sum(_stack_grams, weigh, shared, center).total
        return lambda fold: np.asarray(np.delete(grams, fold, axis=0).sum(axis=0) / n_training[fold])

    def make_operator(fold: int) -> Matrix:
        def apply(Q: Array) -> Array:
            total = chunks.sum(_multiply_without, fold, np.ascontiguousarray(Q), weigh, shared, center).total
            return np.asarray(total / n_training[fold])

        return symmetric_operator(d, dtype, apply)

    return make_operator


def _stack_grams(
    chunk: Chunk, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None
) -> ArraySum:
    """Return the Gram matrices of all folds, (3, d, d)."""
    return ArraySum(np.stack([gram(fold, weigh, shared, center).total for fold in split_folds(chunk)]))


def _multiply_without(
    chunk: Chunk,
    left_out: int,
    Q: Array,
    weigh: Callable[..., Array] | None,
    shared: tuple[Any, ...],
    center: Array | None,
) -> ArraySum:
    """Multiply the Gram matrix of all folds but one by Q, (d, q)."""
    others = (chunk.thin(N_FOLDS, fold) for fold in range(N_FOLDS) if fold != left_out)
    return add_all([multiply_gram(fold, Q, weigh, shared, center) for fold in others])


def evaluate_directions(X: Samples, center: Array, weights: Array, noise: Array, V: Array) -> FoldSums:
    """Sum w ⟨x - center, v⟩² over samples for each direction, and the noise."""

    def work(rows: slice) -> FoldSums:
        inside = project(X[rows], V, center).astype(np.float64)
        return sum_held_out(inside**2 * weights[rows, None], noise[rows])

    return sum_chunks(work, row_slices(X.shape[0]))
