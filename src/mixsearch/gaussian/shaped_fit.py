"""Mixtures of Gaussians of any shape, fitted to samples wherever they are, and their jackknife."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres
from scipy.special import logsumexp

from mixsearch._typing import Array, Samples
from mixsearch.core.em import EMOptions, run_em
from mixsearch.core.example_fit import TypicalSquares, typical_squares
from mixsearch.core.frame import Frame
from mixsearch.data.chunks import add_sums, row_slices, sum_chunks
from mixsearch.data.partitions import Partitions, SamplePartition, sums_by_group
from mixsearch.data.threads import one_blas_thread
from mixsearch.gaussian.shapes import (
    CHUNK_ROWS,
    INDEPENDENT,
    SHAPES,
    GrownMixture,
    Shape,
    ShapedMixture,
    ShapeSums,
    choose_mixture,
    exchange_components,
    min_variance,
    mixture_from_sums,
    sum_shapes,
)
from mixsearch.gaussian.subset import test_tails
from mixsearch.gaussian.units import Units, measure_units

Covariance = Literal["auto", "spherical", "diagonal", "tied", "low-rank", "full"]
# The mixture is chosen on this many samples, or this many per component or feature; tests use the same ones.
MIN_SAMPLES, PER_COMPONENT, PER_FEATURE, MAX_SAMPLES = 3000, 300, 100, 10_000
# Without a number, no more components than this are tried.
MAX_COMPONENTS = 15
# In more features than this, correlated ones are not tried: d x d numbers for every component.
MAX_CORRELATED = 200
# Directions in which the variance of centers is a smaller fraction of the largest one are rounding.
MIN_SPREAD = 1e-12
# Samples whose component is less certain than this make parameters depend on each other.
MIN_DOUBT = 1e-4
# The step of the derivative, relative to all sums.
STEP = 1e-3
# When its equations are solved. With 1e-2, error bars of components that overlap are up to a fifth shorter than those
# of refits; with this one they agree within a few percent.
TOLERANCE, MAX_ITER = 1e-4, 50


@dataclass(frozen=True)
class ShapedFit:
    """A mixture in scaled units, with its samples. It does not depend on the hint, so one serves every search."""

    mixture: ShapedMixture
    units: Units
    partitions: Partitions[SamplePartition]
    least: float  # the least variance of a component
    rows: Array  # some samples in these units, (m, d)

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self.mixture.weights)

    @cached_property
    def centers(self) -> Array:
        """The centers in the units of the user, (k, d)."""
        return self.units.restore(self.mixture.centers)

    @cached_property
    def mean(self) -> Array:
        """The mean of the mixture in the units of the user, (d,)."""
        return np.asarray(self.mixture.weights @ self.centers)

    @cached_property
    def noise_variance(self) -> float:
        """The variance within components in the units of the user, on average over features."""
        return float(np.mean(np.diag(self.mixture.average_covariance) * self.units.scale**2))

    @cached_property
    def frame(self) -> Frame:
        """The space of the centers, scaled so that the second moment of the mixture is the identity."""
        mean = self.mixture.weights @ self.mixture.centers
        away = (self.mixture.centers - mean) * np.sqrt(self.mixture.weights)[:, None]
        _, lengths, axes = np.linalg.svd(away, full_matrices=False)
        is_signal = lengths**2 > MIN_SPREAD * max(float(lengths[0]) ** 2, self.least)
        values = lengths[is_signal] ** 2
        return Frame(
            np.column_stack([np.zeros(len(mean)), axes[is_signal].T]),
            np.append(values.mean() if len(values) else 1.0, values),
            metric=1 / self.units.scale,
            origin=mean + self.units.origin / self.units.scale,
        )

    @cached_property
    def replicates(self) -> MixtureReplicates:
        """Weights and centers, in the units of the fit, of all samples but one group of the jackknife."""
        with one_blas_thread:
            return replicate_mixture(self.partitions, self.mixture, self.units, self.least, self.rows)

    @cached_property
    def _tested(self) -> tuple[Array, tuple[TypicalSquares, ...]]:
        resp, _ = self.mixture.posterior(self.rows)
        squares = self.mixture.squared_distances(self.rows)
        pairs = list(zip(squares.T, resp.T, strict=True))
        n_dims = int(np.sum(np.linalg.eigvalsh(self.rows.T @ self.rows / len(self.rows)) > self.least))
        p_values = [test_tails(each, own, n_dims) if n_dims else 1.0 for each, own in pairs]
        return np.array(p_values), tuple(typical_squares(each, own) for each, own in pairs)

    @property
    def p_values(self) -> Array:
        """The p-value of each component: the test whether its samples follow a Gaussian of its shape, (k,)."""
        return self._tested[0]

    @property
    def p_value(self) -> float:
        """The p-value of the test whether the samples follow the mixture."""
        return float(min(1.0, len(self.p_values) * self.p_values.min()))

    @property
    def typical(self) -> tuple[TypicalSquares, ...]:
        """The squared distances of the members of each component."""
        return self._tested[1]


def choose_shape(
    partitions: Partitions[SamplePartition],
    covariance: Covariance,
    n_components: int | None,
    *,
    is_scaled: bool | None,
) -> ShapedFit:
    """Choose the shape and the number of components on part of the samples."""
    needed = max(
        MIN_SAMPLES, PER_COMPONENT * (n_components or 0), min(PER_FEATURE * partitions.n_features, MAX_SAMPLES)
    )
    part = partitions.thin(max(partitions.n_rows // needed, 1)).collect()
    tried = [(measure_units(partitions, is_scaled=is_scaled is not False), _list_shapes(covariance, part.n_features))]
    if is_scaled is None and covariance == "auto":
        tried.append((measure_units(partitions, is_scaled=False), ("spherical",)))
    with one_blas_thread:  # for small matrices, several threads take longer
        chosen = [_choose(part.partition.samples, units, shapes, n_components) for units, shapes in tried]
        units, rows, grown = min(chosen, key=lambda each: each.criterion)
        mixture = exchange_components(rows, grown).mixture
    return ShapedFit(mixture, units, part, min_variance(rows), rows)


def _list_shapes(covariance: Covariance, n_features: int) -> tuple[Shape, ...]:
    if covariance != "auto":
        return (covariance,)
    return tuple(shape for shape in SHAPES if shape in INDEPENDENT or n_features <= MAX_CORRELATED)


class Chosen(NamedTuple):
    """A mixture of some samples in some units."""

    units: Units
    rows: Array  # the samples in these units, (m, d)
    grown: GrownMixture

    @property
    def criterion(self) -> float:
        """The Bayesian information criterion in the units of the user."""
        return self.grown.criterion + len(self.rows) * self.units.log_volume


def _choose(samples: Samples, units: Units, shapes: tuple[Shape, ...], n_components: int | None) -> Chosen:
    rows = units.standardize(samples)
    grown = choose_mixture(rows, shapes=shapes, max_components=MAX_COMPONENTS, n_components=n_components)
    return Chosen(units, rows, grown)


class StepSums(NamedTuple):
    """Sums over samples for an iteration of EM."""

    sizes: Array
    totals: Array
    squares: Array
    log_likelihood: float

    @property
    def shapes(self) -> ShapeSums:
        """The sums of the M-step."""
        return ShapeSums(self.sizes, self.totals, self.squares)


def _sum_step(partition: SamplePartition, mixture: ShapedMixture, units: Units) -> StepSums:
    def sum_rows(rows: slice) -> StepSums:
        X = units.standardize(partition.samples[rows])
        resp, totals = mixture.posterior(X)
        return StepSums(*sum_shapes(X, resp, mixture.shape), float(totals.sum()))

    return sum_chunks(sum_rows, row_slices(partition.n_rows, CHUNK_ROWS))


def refine_shapes(start: ShapedFit, partitions: Partitions[SamplePartition], options: EMOptions) -> ShapedFit:
    """Run EM on all samples from the mixture of a part of them."""

    def step(mixture: ShapedMixture) -> tuple[ShapedMixture, float]:
        sums = partitions.reduce(_sum_step, mixture, start.units)
        return mixture_from_sums(sums.shapes, mixture.shape, start.least), sums.log_likelihood

    return replace(start, mixture=run_em(start.mixture, step, options).state, partitions=partitions)


def hold_examples(
    fit: ShapedFit, index: int, examples: Array, not_examples: Array, options: EMOptions
) -> ShapedMixture:
    """Run EM with examples held in one component, and others outside of it.

    Notes
    -----
    Examples add the likelihood of their own component, Σ log pᵢ(x), and not_examples that of all others. The user drew
    them, so they say where a component lies and which shape it has, not how often its samples are: weights come from
    the samples of the fit alone.
    """
    members = np.zeros((len(examples), fit.n_components))
    members[:, index] = 1
    held = sum_shapes(examples, members, fit.mixture.shape)

    def step(mixture: ShapedMixture) -> tuple[ShapedMixture, float]:
        sums = fit.partitions.reduce(_sum_step, mixture, fit.units)
        logs = mixture.log_densities(not_examples) + np.log(mixture.weights)
        logs[:, index] = -np.inf
        totals = logsumexp(logs, axis=1)
        others = sum_shapes(not_examples, np.exp(logs - totals[:, None]), mixture.shape)
        following = mixture_from_sums(add_sums(add_sums(sums.shapes, held), others), mixture.shape, fit.least)
        objective = sums.log_likelihood + mixture.log_densities(examples)[:, index].sum() + totals.sum()
        return following._replace(weights=sums.sizes / sums.sizes.sum()), float(objective)

    return run_em(fit.mixture, step, options).state


class MixtureReplicates(NamedTuple):
    """Weights and centers of all components from all samples but one group."""

    weights: Array  # (B, k)
    centers: Array  # (B, k, d), in the units of the fit


def replicate_mixture(
    partitions: Partitions[SamplePartition], mixture: ShapedMixture, units: Units, least: float, rows: Array
) -> MixtureReplicates:
    """Return the mixture without each group of the jackknife in turn, to first order.

    Notes
    -----
    EM ends where the sums s of the M-step are those of its own E-step, s = S(s). Without a group, s moves by δ with
    δ = J δ - s(group), where J is the derivative of S: leaving out a group takes its sums away, and what that changes
    in the parameters moves other samples. J is small where components are far apart, since only samples of an uncertain
    component move. Some of the samples suffice to measure it, along one direction at a time.
    """
    by_group = sums_by_group(partitions, _sum_rows, mixture, units)
    groups = [ShapeSums(*(field[index] for field in by_group)) for index in range(len(by_group.sizes))]
    total = ShapeSums(*(field.sum(axis=0) for field in by_group))
    moved = _Moved(mixture, total, least, rows, partitions.n_rows / len(rows))
    found = [_unflatten(_flatten(total) + moved.solve(-_flatten(group)), total) for group in groups]
    sizes = np.array([np.maximum(each.sizes, np.finfo(np.float64).tiny) for each in found])
    totals = np.array([each.totals for each in found])
    return MixtureReplicates(sizes / sizes.sum(axis=1, keepdims=True), totals / sizes[:, :, None])


def _sum_rows(partition: SamplePartition, rows: slice, mixture: ShapedMixture, units: Units) -> ShapeSums:
    samples = partition.samples[rows]

    def sum_chunk(chunk: slice) -> ShapeSums:
        X = units.standardize(samples[chunk])
        return sum_shapes(X, mixture.posterior(X)[0], mixture.shape)

    return sum_chunks(sum_chunk, row_slices(samples.shape[0], CHUNK_ROWS))


class _Moved:
    """The change of the E-step's sums with the parameters, measured on some samples."""

    def __init__(self, mixture: ShapedMixture, total: ShapeSums, least: float, rows: Array, factor: float) -> None:
        resp, _ = mixture.posterior(rows)
        is_uncertain = resp.max(axis=1) < 1 - MIN_DOUBT
        self._rows, self._factor = rows[is_uncertain], factor
        self._total, self._shape, self._least = total, mixture.shape, least
        self._center = _flatten(total)
        self._unmoved = self._sum(self._center)

    def _sum(self, sums: Array) -> Array:
        mixture = mixture_from_sums(_unflatten(sums, self._total), self._shape, self._least)
        resp, _ = mixture.posterior(self._rows)
        return self._factor * _flatten(sum_shapes(self._rows, resp, self._shape))

    def _derivative(self, direction: Array) -> Array:
        """Return J times a direction."""
        length = float(np.linalg.norm(direction))
        if length == 0:
            return direction
        step = STEP * float(np.linalg.norm(self._center)) / length
        return (self._sum(self._center + step * direction) - self._unmoved) / step

    def solve(self, direction: Array) -> Array:
        """Return δ with δ = Jδ + direction."""
        if not len(self._rows):
            return direction
        size = len(direction)
        operator = LinearOperator((size, size), matvec=lambda x: x.ravel() - self._derivative(x.ravel()), dtype=float)
        solution, _ = gmres(operator, direction, x0=direction, rtol=TOLERANCE, restart=MAX_ITER, maxiter=1)
        return np.asarray(solution)


def _flatten(sums: ShapeSums) -> Array:
    return np.concatenate([field.ravel() for field in sums])


def _unflatten(flat: Array, like: ShapeSums) -> ShapeSums:
    ends = np.cumsum([field.size for field in like])[:-1]
    return ShapeSums(*(part.reshape(field.shape) for part, field in zip(np.split(flat, ends), like, strict=True)))
