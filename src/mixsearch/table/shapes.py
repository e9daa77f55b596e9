"""Gaussians of any shape in all dimensions: densities, the M-step of each shape, and growth by splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rows import row_slices

# Covariances of a component are shrunk towards the average one as if it had d + 2 more samples, variances 2 more.
MIN_PRIOR = 2
# Every average variance is at least this fraction of the mean square of the data. A fraction of the variance within
# components would fall with every split, and a direction without variance would reward them.
MIN_VARIANCE = 1e-4
Shape = Literal["spherical", "diagonal", "tied", "low-rank", "full"]
SHAPES: tuple[Shape, ...] = ("spherical", "diagonal", "tied", "low-rank", "full")
# Shapes with features that are independent within a component.
INDEPENDENT = ("spherical", "diagonal")
# Samples per chunk of an E-step.
CHUNK_ROWS = 4096
# EM iterations after a split, and of the mixture chosen.
SPLIT_ITER, FINAL_ITER = 8, 50
# Growing ends after this many splits without a better criterion.
PATIENCE = 2
# Both halves of a split have at least this many samples.
MIN_MEMBERS = 5
# Full covariances have d(d + 1)/2 parameters each: above this dimension, those of low rank do.
MAX_FULL = 40
# EM of a 1-dimensional split, and the iterations that find a direction of large third moment.
LINE_ITER, POWER_ITER = 10, 8
# Components are exchanged for a gain of more than this many nats.
MIN_GAIN, MAX_EXCHANGES = 1.0, 10
# Components whose split is tried, those that gain most first.
N_EXCHANGES = 4


class ShapedMixture(NamedTuple):
    """Gaussians with covariances of one shape.

    Attributes
    ----------
    weights : array of shape (k,)
        Weights of the components, which sum to 1.
    centers : array of shape (k, d)
        Means of the components.
    factors : array of shape (k, d, d) or (k, d)
        Upper triangular factors; the precision of component i is ``factors[i] @ factors[i].T``. If features are
        independent, only the diagonals.
    shape : str
        Shape of the covariances.
    n_parameters : int
        The number of free parameters.
    """

    weights: Array
    centers: Array
    factors: Array
    shape: Shape
    n_parameters: int

    @property
    def covariances(self) -> Array:
        """The covariance of every component, (k, d, d)."""
        return np.stack([self.covariance(index) for index in range(len(self.weights))])

    def covariance(self, index: int) -> Array:
        """Compute the covariance of one component, (d, d)."""
        factor = self.factors[index]
        if factor.ndim == 1:
            return np.diag(factor**-2.0)
        inverse = np.linalg.inv(factor)
        return np.asarray(inverse.T @ inverse)

    @property
    def average_covariance(self) -> Array:
        """The covariance within components, (d, d)."""
        if self.factors.ndim == 2:
            return np.diag(self.weights @ self.factors**-2.0)
        return self.covariance(0) if self.shape == "tied" else np.tensordot(self.weights, self.covariances, 1)

    def log_densities(self, X: Array) -> Array:
        """Compute the log density of each component at each sample, (n, k), for samples of shape (n, d)."""
        logs = np.empty((len(X), len(self.weights)))
        for rows in row_slices(len(X), CHUNK_ROWS):
            logs[rows] = self._log_densities(X[rows])
        return logs

    def _log_densities(self, X: Array) -> Array:
        squares, d = self._squared_distances(X), X.shape[1]
        diagonals = self.factors if self.factors.ndim == 2 else np.einsum("kdd->kd", self.factors)
        return np.asarray(np.log(diagonals).sum(axis=1) - 0.5 * (squares + d * np.log(2 * np.pi)))

    def squared_distances(self, X: Array) -> Array:
        """Compute the squared Mahalanobis distance of each sample from each component, (n, k)."""
        return np.concatenate([self._squared_distances(X[rows]) for rows in row_slices(len(X), CHUNK_ROWS)])

    def _squared_distances(self, X: Array) -> Array:
        k, d = self.centers.shape
        if self.factors.ndim == 2:
            precisions = self.factors**2
            squares = (
                X**2 @ precisions.T
                - 2 * X @ (precisions * self.centers).T
                + np.sum(precisions * self.centers**2, axis=1)
            )
            return np.asarray(np.maximum(squares, 0))
        if self.shape == "tied":
            whitened, centers = X @ self.factors[0], self.centers @ self.factors[0]
            squares = np.sum(whitened**2, axis=1)[:, None] - 2 * whitened @ centers.T + np.sum(centers**2, axis=1)
            return np.asarray(np.maximum(squares, 0))
        # One product for all components.
        whitened = X @ self.factors.transpose(1, 0, 2).reshape(d, k * d)
        whitened -= np.einsum("kd,kde->ke", self.centers, self.factors).ravel()
        whitened *= whitened
        return np.asarray(whitened.reshape(len(X), k, d).sum(axis=2))

    def posterior(self, X: Array) -> tuple[Array, Array]:
        """Compute responsibilities, (n, k), and log-likelihoods, (n,), of samples, (n, d)."""
        joint = self.log_densities(X) + np.log(self.weights)
        top = joint.max(axis=1)
        resp = np.exp(joint - top[:, None])
        sums = resp.sum(axis=1)
        return resp / sums[:, None], top + np.log(sums)

    def bic(self, log_likelihood: float, n_samples: int) -> float:
        """Compute the Bayesian information criterion, in nats: smaller is better."""
        return 0.5 * self.n_parameters * float(np.log(n_samples)) - log_likelihood


class ShapeSums(NamedTuple):
    """Sums over samples, weighted by responsibilities p, that the M-step needs."""

    sizes: Array  # Σ p, (k,)
    totals: Array  # Σ px, (k, d)
    squares: Array  # Σ pxx', (k, d, d); (1, d, d) for a tied covariance; Σ px², (k, d), if features are independent


def sum_shapes(X: Array, resp: Array, shape: Shape) -> ShapeSums:
    """Sum samples, (n, d), with responsibilities, (n, k)."""
    if shape in INDEPENDENT:
        squares = resp.T @ X**2
    elif shape == "tied":
        squares = ((X * resp.sum(axis=1)[:, None]).T @ X)[None]
    else:
        squares = np.stack([(X * each[:, None]).T @ X for each in resp.T])
    return ShapeSums(resp.sum(axis=0), resp.T @ X, squares)


def mixture_from_sums(sums: ShapeSums, shape: Shape, least: float) -> ShapedMixture:
    """Return the mixture of one shape that sums ask for, with shrunk covariances."""
    sizes = sums.sizes + np.finfo(np.float64).tiny
    centers = sums.totals / sizes[:, None]
    estimate = _independent if shape in INDEPENDENT else _correlated
    factors, n_parameters = estimate(sums.squares, sizes, centers, shape, least)
    n_parameters += centers.size + len(sizes) - 1
    return ShapedMixture(sizes / sizes.sum(), centers, factors, shape, n_parameters)


def m_step(X: Array, resp: Array, shape: Shape) -> ShapedMixture:
    """Return the mixture of one shape that responsibilities, (n, k), ask for, with shrunk covariances."""
    return mixture_from_sums(sum_shapes(X, resp, shape), shape, min_variance(X))


def min_variance(X: Array) -> float:
    """Return the least variance of a component of the data; that of unit data if all of them are zero."""
    return MIN_VARIANCE * (float(np.einsum("ij,ij->", X, X)) / X.size or 1.0)


def _independent(squares: Array, sizes: Array, centers: Array, shape: Shape, least: float) -> tuple[Array, int]:
    k, d = centers.shape
    variances = np.maximum(squares / sizes[:, None] - centers**2, 0)
    average = np.maximum(sizes @ variances / sizes.sum(), least)
    shrunk = (sizes[:, None] * variances + MIN_PRIOR * average) / (sizes[:, None] + MIN_PRIOR)
    if shape == "spherical":
        shrunk = np.repeat(shrunk.mean(axis=1, keepdims=True), d, axis=1)
    return shrunk**-0.5, k * (1 if shape == "spherical" else d)


def _correlated(squares: Array, sizes: Array, centers: Array, shape: Shape, least: float) -> tuple[Array, int]:
    k, d = centers.shape
    average = (squares.sum(axis=0) - (centers.T * sizes) @ centers) / sizes.sum() + np.eye(d) * least
    if shape == "tied":
        return np.broadcast_to(precision_factor(average), (k, d, d)), d * (d + 1) // 2
    covariances = squares / sizes[:, None, None] - np.einsum("ki,kj->kij", centers, centers)
    shrunk = shrink_covariances(covariances, sizes, average)
    if shape == "full":
        return precision_factor(shrunk), k * d * (d + 1) // 2
    low, ranks = zip(*(_lower_rank(each, size) for each, size in zip(shrunk, sizes, strict=True)), strict=True)
    # Some free axes, with their variances, and one variance for all others.
    return precision_factor(np.stack(low)), sum(d * rank - rank * (rank - 1) // 2 + 1 for rank in ranks)


def _lower_rank(covariance: Array, size: float) -> tuple[Array, int]:
    """Return a covariance with its long axes only, the others averaged, and how many the likelihood supports."""
    values, axes = np.linalg.eigh(covariance)
    values, axes = values[::-1], axes[:, ::-1]
    d = len(values)
    ranks = np.arange(d)
    rest = np.cumsum(values[::-1])[::-1] / (d - ranks)
    logs = np.concatenate([[0], np.cumsum(np.log(values))[:-1]]) + (d - ranks) * np.log(rest)
    parameters = d * ranks - ranks * (ranks - 1) // 2 + 1
    rank = int(np.argmin(size * logs + parameters * np.log(max(size, 2.0))))
    kept = np.where(ranks < rank, values, rest[rank])
    return (axes * kept) @ axes.T, rank


def run_shaped_em(
    X: Array, resp: Array, shape: Shape, *, max_iter: int, tol: float
) -> tuple[ShapedMixture, Array, float]:
    """Run EM from responsibilities until an iteration gains less than `tol` nats per sample."""
    last = -np.inf
    for _ in range(max_iter):
        mixture = m_step(X, resp, shape)
        resp, totals = mixture.posterior(X)
        log_likelihood = float(totals.sum())
        if log_likelihood - last < tol * len(X):
            break
        last = log_likelihood
    return mixture, resp, log_likelihood


class GrownMixture(NamedTuple):
    """A mixture of as many components as the likelihood supports."""

    mixture: ShapedMixture
    resp: Array  # (n, k)
    criterion: float  # the Bayesian information criterion, in nats

    @property
    def n_components(self) -> int:
        """The number of components."""
        return int(self.resp.shape[1])


def choose_mixture(
    X: Array, *, shapes: Sequence[Shape] = SHAPES, max_components: int = 15, n_components: int | None = None
) -> GrownMixture:
    """Choose the shape and the number of components by the Bayesian information criterion.

    Notes
    -----
    There are no random starts. A mixture begins with one Gaussian. Then the component whose samples gain most is split
    in two along a line: its longest axis, the direction of its largest third moment, or one of its smallest or largest
    fourth moment, which reveal two equal halves or a rare distant group. The number of components
    may exceed the number of features.
    """
    possible = [shape for shape in shapes if shape != "full" or X.shape[1] <= MAX_FULL] or list(shapes)
    least, most = (1, max_components) if n_components is None else (n_components, n_components)
    grown = [grow_mixture(X, shape, most, min_components=least) for shape in possible]
    return min(grown, key=lambda each: each.criterion)


def grow_mixture(X: Array, shape: Shape, max_components: int, *, min_components: int = 1) -> GrownMixture:
    """Return the best mixture of one shape, from one component on."""
    grown = best = _run_em(X, np.ones((len(X), 1)), shape, max_iter=1)
    n_worse = 0
    while (n_worse < PATIENCE or grown.n_components < min_components) and grown.n_components < max_components:
        split = max(_find_splits(X, grown.resp), key=lambda split: split.gain, default=None)
        if split is None:
            break
        grown = _run_em(X, split.apply(grown.resp), shape, max_iter=SPLIT_ITER)
        is_better = grown.criterion < best.criterion or best.n_components < min_components
        n_worse = 0 if is_better else n_worse + 1
        best = grown if is_better else best
    return _run_em(X, best.resp, shape, max_iter=FINAL_ITER, tol=1e-5)


def exchange_components(X: Array, grown: GrownMixture) -> GrownMixture:
    """Return a likelier mixture of as many components, if splitting one and merging two others leads to one.

    Notes
    -----
    A component that was split in vain stays split while another one stands for two. Halves of one Gaussian share more
    of their samples than neighbours do.
    """
    for _ in range(MAX_EXCHANGES):
        likelier = next((each for each in _exchanged(X, grown) if each.criterion < grown.criterion - MIN_GAIN), None)
        if likelier is None:
            break
        grown = likelier
    return grown


def _exchanged(X: Array, grown: GrownMixture) -> Iterator[GrownMixture]:
    """Yield mixtures with one component split and the two merged that share most, the largest gain first."""
    shape = grown.mixture.shape
    # The longest axis of a component is one along which others are short.
    round_samples = np.linalg.solve(np.linalg.cholesky(grown.mixture.average_covariance), X.T).T
    splits = sorted(_find_splits(round_samples, grown.resp), key=lambda split: -split.gain)
    for split in splits[:N_EXCHANGES] if grown.n_components > 1 else ():
        larger = _run_em(X, split.apply(grown.resp), shape, max_iter=SPLIT_ITER)
        yield _run_em(X, _merge_overlapping(larger.resp), shape, max_iter=FINAL_ITER, tol=1e-5)


def _merge_overlapping(resp: Array) -> Array:
    """Return responsibilities with the two components merged that share the largest part of the smaller one."""
    sizes = resp.sum(axis=0)
    shared = resp.T @ resp / np.maximum(np.minimum.outer(sizes, sizes), np.finfo(np.float64).tiny)
    first, second = sorted(np.unravel_index(np.argmax(np.triu(shared, 1)), shared.shape))
    merged = np.delete(resp, second, axis=1)
    merged[:, first] += resp[:, second]
    return merged


def _run_em(X: Array, resp: Array, shape: Shape, *, max_iter: int, tol: float = 1e-3) -> GrownMixture:
    mixture, resp, log_likelihood = run_shaped_em(X, resp, shape, max_iter=max_iter, tol=tol)
    return GrownMixture(mixture, resp, mixture.bic(log_likelihood, len(X)))


class Split(NamedTuple):
    """A component in two parts."""

    component: int
    rows: Array  # of its samples, (m,)
    half: Array  # the probability of each to be of the new component, (m,)
    gain: float  # of two Gaussians on a line over one, in nats

    def apply(self, resp: Array) -> Array:
        """Return responsibilities with the component split, (n, k + 1)."""
        split = np.column_stack([resp, np.zeros(len(resp))])
        split[self.rows, -1] = resp[self.rows, self.component] * self.half
        split[self.rows, self.component] -= split[self.rows, -1]
        return split


def _find_splits(X: Array, resp: Array) -> Iterator[Split]:
    """Yield the best split of every component that can be split."""
    least = min_variance(X)
    for index in range(resp.shape[1]):
        weights = resp[:, index]
        if weights.sum() < 2 * MIN_MEMBERS:
            continue
        own = np.flatnonzero(weights > 0.01)
        splits = [_split_line(positions, weights[own]) for positions in _split_lines(X[own], weights[own], least)]
        half, gain = max(splits, key=lambda split: split[1], default=(weights, -np.inf))
        if gain > -np.inf:
            yield Split(index, own, half, gain)


def _split_lines(X: Array, weights: Array, least: float) -> Iterator[Array]:
    """Yield positions of a component's samples along the directions in which two groups may show, (m,) each.

    A component whose variances are all below the least one has none.
    """
    total = weights.sum()
    Z = X - weights @ X / total
    values, axes = np.linalg.eigh((Z * weights[:, None]).T @ Z / total)
    if values[-1] < least:
        return
    yield Z @ axes[:, -1]
    varies = values > 1e-9 * values[-1]
    Y = Z @ (axes[:, varies] / np.sqrt(values[varies]))
    squares = weights * np.einsum("ij,ij->i", Y, Y)
    direction = _normalize(squares @ Y)
    for _ in range(POWER_ITER):
        direction = _normalize((weights * (Y @ direction) ** 2) @ Y)
    yield Y @ direction
    _, fourth = np.linalg.eigh((Y * squares[:, None]).T @ Y / total)
    yield Y @ fourth[:, 0]
    yield Y @ fourth[:, -1]


def _normalize(v: Array) -> Array:
    return np.asarray(v / max(float(np.linalg.norm(v)), np.finfo(np.float64).tiny))


def _split_line(positions: Array, weights: Array) -> tuple[Array, float]:
    """Return the probability of the upper of two Gaussians on a line, (m,), and the gain over one, in nats."""
    total = weights.sum()
    x = positions - weights @ positions / total
    spread = float(np.sqrt(weights @ x**2 / total))
    if spread == 0:
        return np.zeros_like(positions), -np.inf
    x /= spread
    half = (x > _best_threshold(x, weights)).astype(float)
    for _ in range(LINE_ITER):
        sizes = np.array([weights @ (1 - half), weights @ half])
        if sizes.min() < MIN_MEMBERS:
            return half, -np.inf
        means = np.array([(weights * (1 - half)) @ x, (weights * half) @ x]) / sizes
        squares = (x[:, None] - means) ** 2
        variances = np.array([(weights * (1 - half)) @ squares[:, 0], (weights * half) @ squares[:, 1]]) / sizes
        variances = np.maximum(variances, 1e-3)
        logs = np.log(sizes / total) - 0.5 * (squares / variances + np.log(variances))
        totals = np.logaddexp(logs[:, 0], logs[:, 1])
        half = np.exp(logs[:, 1] - totals)
    return half, float(weights @ (totals + 0.5 * x**2))


def _best_threshold(x: Array, weights: Array) -> float:
    """Return the threshold with the least variance on its two sides."""
    order = np.argsort(x)
    below = np.cumsum(weights[order])
    inside = (below > MIN_MEMBERS) & (below < below[-1] - MIN_MEMBERS)
    between = np.where(inside, np.cumsum(weights[order] * x[order]) ** 2 / (below * (below[-1] - below) + ~inside), -1)
    return float(x[order][np.argmax(between)])


def average_covariance(covariances: Array, sizes: Array, floor: float) -> Array:
    """Return the average covariance within components, with a floor added to every variance, (d, d)."""
    average = np.tensordot(sizes, covariances, 1) / sizes.sum()
    return np.asarray(average + np.eye(covariances.shape[1]) * floor)


def shrink_covariances(covariances: Array, sizes: Array, average: Array) -> Array:
    """Shrink covariances towards the average one, as if every component had d + 2 more samples."""
    prior = len(average) + MIN_PRIOR
    return np.asarray((sizes[:, None, None] * covariances + prior * average) / (sizes + prior)[:, None, None])


def precision_factor(covariance: Array) -> Array:
    """Return the upper triangular matrix whose product with its transpose inverts a covariance, (..., d, d)."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)).swapaxes(-1, -2))
