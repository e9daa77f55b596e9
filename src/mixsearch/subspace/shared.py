"""The parts of a fit that do not depend on the hint: starts of EM, the shape of the mixture, its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.em import MAX_ITER, EMOptions, EMResult
from mixsearch.core.walk import Walk
from mixsearch.data.partitions import Partitions, SamplePartition, partition_in_memory
from mixsearch.errors import SearchError
from mixsearch.subspace.em import (
    SubspaceMixture,
    compute_coordinates,
    initial_mixture,
    mixture_of_labels,
    run_em_from,
    with_own_dims,
)
from mixsearch.subspace.expression import Nodes, Ridge, SelfExpression, choose_ridge
from mixsearch.subspace.extraction import remaining_subspaces
from mixsearch.subspace.family import SubspaceFamily, fit_subspace

# Every fifth sample is held out.
N_FOLDS = 5
# The mixture carries the answer unless its errors are larger by this many standard errors.
MIN_DEVIATIONS = 2.0
# Relative errors below this one are rounding.
ROUNDING = 1e-8
# Larger dimensions are not tried.
MAX_DIM = 8
# Samples on which numbers and dimensions are compared.
MAX_SAMPLES = 1000
# Samples that are compared with the mixture, and nodes of the graph that carries answers, at most.
MAX_COMPARED, MAX_NODES = 1000, 2000
# Numbers in them at most: with more than 10,000 features there are fewer nodes.
MAX_SIZE = 20_000_000
# Fewer samples have no held-out part to compare with.
MIN_NODES = 20


def best_mixture(family: SubspaceFamily, walk: Walk, options: EMOptions) -> SubspaceMixture:
    """Return the likelier of two mixtures: EM started from moments, and from clusters of a graph."""
    rows = family.partitions.map(compute_coordinates, family.frame.values).collect().partition
    starts = [mixture_of_labels(family, rows, cluster_nodes(walk, family.n_components))]
    hinted = family.hinted(np.eye(family.frame.n_components))
    try:
        directions = list(remaining_subspaces(family.hinted, hinted, family.dim, []))
        starts.append(initial_mixture(family, directions))
    except (SearchError, np.linalg.LinAlgError):  # moments of a few samples may fail
        pass
    fits = [run_em_from(family, start, options) for start in starts]
    return find_own_dims(family, max(fits, key=lambda fit: fit.objectives[-1]), options).state


def find_own_dims(
    family: SubspaceFamily, fitted: EMResult[SubspaceMixture], options: EMOptions
) -> EMResult[SubspaceMixture]:
    """Return a fit whose subspaces have different dimensions, if the family allows it."""
    return run_em_from(family, with_own_dims(family, fitted.state), options) if family.has_own_dims else fitted


def choose_fit(family: SubspaceFamily, fits: Sequence[EMResult[SubspaceMixture]]) -> EMResult[SubspaceMixture]:
    """Return the fit with the least Bayesian information criterion: the likeliest, if all have the same dimensions."""
    return min(fits, key=lambda fit: mixture_bic(family, fit.state, fit.objectives[-1]))


def mixture_bic(family: SubspaceFamily, mixture: SubspaceMixture, objective: float) -> float:
    """Return the Bayesian information criterion, per sample: fits may leave out different outliers."""
    d, n = len(family.frame.basis), family.partitions.n_rows
    dims = np.array([mixture.dim_of(index) for index in range(len(mixture.weights))])
    n_parameters = float(np.sum(dims * (d - dims) + dims + 2)) - 1
    return float((n_parameters * np.log(n) - 2 * objective) / n)


def cluster_nodes(walk: Walk, n_clusters: int) -> Array:
    """Return the clusters of the nodes of a graph, as labels from 0 on, (m,).

    Notes
    -----
    By the top eigenvectors of the normalised graph: columns of a pivoted QR decomposition choose one node of each
    cluster, and the nearest rotation turns the eigenvectors into indicators of the clusters (Damle, Minden and Ying).
    """
    graph = walk.graph.toarray()
    vectors = top_eigenpairs((graph + graph.T) / 2, n_clusters).vectors
    _, pivots = scipy.linalg.qr(vectors.T, mode="r", pivoting=True)
    rotation, _ = scipy.linalg.polar(vectors[pivots[:n_clusters]].T)
    return np.asarray(np.abs(vectors @ rotation).argmax(axis=1))


def predicts_worse(family: SubspaceFamily, nodes: Nodes, ridge: Ridge, options: EMOptions) -> bool:
    """Return whether a mixture predicts features of samples worse than other samples do.

    Notes
    -----
    Half of the features of a sample choose its subspace and its coordinates there, or its coefficients in a ridge
    regression on all other samples. Both predict the other half. The mixture is fitted without the samples on which
    it is compared.
    """
    held_out = np.arange(len(nodes.samples)) % N_FOLDS == N_FOLDS // 2
    train, is_test = nodes.take(~held_out), held_out & nodes.units.any(axis=1)
    try:
        fitted = fit_subspace(
            partition_in_memory(train.samples),
            family.n_components,
            dim=family.dim,
            paper=False,
            seed=0,
            origin=family.origin,
        )
        fitted = replace(fitted, has_own_dims=family.has_own_dims)
        mixture = best_mixture(fitted, train.express(ridge).walk, options)
    except SearchError:  # fewer directions stand out among fewer samples
        return True
    halves, test = nodes.halves, nodes.samples[is_test]
    predictors = [Predictor.of(mixture, fitted.frame.basis, *order) for order in (halves, halves[::-1])]
    errors = sum(each.errors(test - family.center) for each in predictors)
    return _is_larger(errors / np.sum((test - nodes.origin) ** 2, axis=1), ridge.errors[is_test])


def _is_larger(of_mixture: Array, of_samples: Array) -> bool:
    """Return whether the errors of the mixture are larger by more than chance."""
    differences = np.maximum(of_mixture, ROUNDING) - np.maximum(of_samples, ROUNDING)
    if not len(differences):
        return False
    deviation = float(differences.std()) / np.sqrt(len(differences))
    return bool(differences.mean() > MIN_DEVIATIONS * deviation)


class Predictor(NamedTuple):
    """A mixture that predicts some features from others."""

    known: Array  # features, (a,)
    unknown: Array  # (b,)
    bases: Array  # (k, d, r)
    mixture: SubspaceMixture

    @classmethod
    def of(cls, mixture: SubspaceMixture, span: Array, known: Array, unknown: Array) -> Predictor:
        return cls(known, unknown, np.einsum("dp,kpr->kdr", span, mixture.bases), mixture)

    def errors(self, X: Array) -> Array:
        """Return the squared errors of samples, seen from the center of the mixture, (n,)."""
        logs, predictions = zip(*(self._condition(X, i) for i in range(len(self.bases))), strict=True)
        resp = softmax(np.array(logs), axis=0)
        predicted = np.einsum("kn,knb->nb", resp, np.array(predictions))
        return np.asarray(np.sum((X[:, self.unknown] - predicted) ** 2, axis=1))

    def _condition(self, X: Array, index: int) -> tuple[Array, Array]:
        """Return log αᵢpᵢ of the known features, (n,), up to a constant, and the mean of the others, (n, b).

        Notes
        -----
        Coordinates y given the known features x = Uy + noise have the precision M = diag(l)⁻¹ + U'U / s and the mean
        M⁻¹U'x / s, and x'Σ⁻¹x = |x|² / s - x'UM⁻¹U'x / s².
        """
        Y, U, V = X[:, self.known], self.bases[index][self.known], self.bases[index][self.unknown]
        noise = float(self.mixture.noise_variances[index])
        gains = np.sqrt(self.mixture.variances[index])  # may be zero: y is scaled to variance 1
        precision = np.eye(len(gains)) + (U * gains).T @ (U * gains) / noise
        scores = Y @ (U * gains) / noise
        means = np.linalg.solve(precision, scores.T).T
        squares = np.einsum("ij,ij->i", Y, Y) / noise - np.einsum("ij,ij->i", scores, means)
        volume = float(np.linalg.slogdet(precision)[1]) + len(self.known) * np.log(noise)
        logs = np.log(self.mixture.weights[index]) - 0.5 * (squares + volume)
        return np.asarray(logs), np.asarray(means @ (V * gains).T)


class Shape(NamedTuple):
    """The number of subspaces of a mixture, and their largest dimension."""

    n_components: int
    dim: int


def choose_shape(
    partitions: Partitions[SamplePartition], n_components: int | None, n_signal: int, origin: Array | None, seed: int
) -> Shape:
    """Choose the largest dimension by the Bayesian information criterion, and the number of subspaces if it is None."""
    few = partitions.thin(-(-partitions.n_rows // MAX_SAMPLES)).collect()
    nodes = Nodes.of(few.partition.samples)
    walk = nodes.express(choose_ridge(nodes)).walk
    options, failed = EMOptions(MAX_ITER, 0.01), None
    criteria: dict[Shape, float] = {}
    for dim in range(1, MAX_DIM + 1):
        largest = 0
        for k in _list_numbers(n_components, n_signal, dim):
            if k * dim >= few.n_features:
                continue
            try:
                family = fit_subspace(few, k, dim=dim, paper=False, seed=seed, origin=origin)
            except SearchError as error:  # this many subspaces need more directions
                failed = error
                continue
            family = replace(family, has_own_dims=True)
            fitted = run_em_from(family, best_mixture(family, walk, options), options)
            own = max(fitted.state.dim_of(index) for index in range(k))
            criterion = mixture_bic(family, fitted.state, fitted.objectives[-1])
            criteria[Shape(k, own)] = min(criterion, criteria.get(Shape(k, own), np.inf))
            largest = max(largest, own)
        if largest < dim:  # no subspace has this many dimensions
            break
    if not criteria and failed is not None:
        raise failed
    return min(criteria, key=criteria.__getitem__)


def _list_numbers(n_components: int | None, n_signal: int, dim: int) -> tuple[int, ...]:
    """Return how many subspaces to try: as few as can hold all directions, one less and one more."""
    fewest = max(-(-n_signal // dim), 1)
    return tuple(range(max(fewest - 1, 1), fewest + 2)) if n_components is None else (n_components,)


class SharedFit(NamedTuple):
    """The parts of a fit that do not depend on the hint."""

    mixture: EMResult[SubspaceMixture] | None = None  # fitted to all samples; None if samples carry the answers
    expression: SelfExpression | None = None  # samples that express each other, if these carry the answers


def share_fit(family: SubspaceFamily, options: EMOptions, self_expression: bool | Literal["auto"]) -> SharedFit:
    """Fit all subspaces without a hint, and find out whether the mixture or its samples carry answers."""
    few = _collect(family, MAX_COMPARED)
    nodes = Nodes.of(few.partitions.collect().partition.samples)
    if len(nodes.units) < max(MIN_NODES, 2 * family.n_components) or nodes.units.shape[1] < 2:
        return SharedFit()
    ridge = choose_ridge(nodes)
    if self_expression is True or (self_expression and predicts_worse(family, nodes, ridge, options)):
        if family.partitions.n_rows > len(nodes.units):
            nodes = Nodes.of(_collect(family, MAX_NODES).partitions.collect().partition.samples)
            ridge = choose_ridge(nodes)
        return SharedFit(expression=nodes.express(ridge))
    start = best_mixture(few, nodes.express(ridge).walk, options)
    return SharedFit(mixture=run_em_from(family, start, options))


def _collect(family: SubspaceFamily, max_samples: int) -> SubspaceFamily:
    """Return the same fit with some of its samples, evenly spread, in memory."""
    n, d = family.partitions.n_rows, len(family.frame.basis)
    step = -(-n // max(min(max_samples, MAX_SIZE // d), 1))
    return replace(family, partitions=family.partitions.thin(step).collect())
