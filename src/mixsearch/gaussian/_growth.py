"""Choice of the number and shape of Gaussians, by splitting components along directions that their moments show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.gaussian._shapes import SHAPES, Shape, ShapedMixture, min_variance, run_shaped_em

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

    Parameters
    ----------
    X : array of shape (n, d)
        Samples.
    shapes : sequence of str
        The shapes to try.
    max_components : int, default=15
        The largest number of components to try.
    n_components : int, optional
        Choose the shape only. There are fewer components if no further one can be split.

    Returns
    -------
    GrownMixture

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
        split = _best_split(X, grown.resp)
        if split is None:
            break
        grown = _run_em(X, split, shape, max_iter=SPLIT_ITER)
        is_better = grown.criterion < best.criterion or best.n_components < min_components
        n_worse = 0 if is_better else n_worse + 1
        best = grown if is_better else best
    return _run_em(X, best.resp, shape, max_iter=FINAL_ITER, tol=1e-5)


def exchange_components(X: Array, grown: GrownMixture) -> GrownMixture:
    """Return a likelier mixture of as many components, if splitting one and merging two others leads to one.

    Parameters
    ----------
    X : array of shape (n, d)
    grown : GrownMixture

    Returns
    -------
    GrownMixture

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


def _best_split(X: Array, resp: Array) -> Array | None:
    """Return responsibilities with the component split that gains most, (n, k + 1), or None if none can be."""
    best = max(_find_splits(X, resp), key=lambda split: split.gain, default=None)
    return None if best is None else best.apply(resp)


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
