"""The joint model of x and y, in which x differs between regressions, where the likelihood prefers it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.stats import chi2

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions, EMResult
from mixsearch.regression._evaluation import Regressors
from mixsearch.regression._features import n_feature_parameters
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._starts import N_CONTINUED, N_STARTS
from mixsearch.regression._whole_em import (
    WholeSamples,
    evaluate_whole,
    likelihood_of_responses,
    maximize_whole,
    mixture_from_resp,
    take_whole,
)

Joint = Literal["auto"] | bool
# How often x that does not differ between regressions may seem to.
MAX_P_VALUE = 1e-3
# A covariance of x takes r² numbers, and its shrinkage is meant for few.
MAX_FEATURES = 50
# Iterations from every start, and from the best ones.
START, OPTIONS = EMOptions(max_iter=15, tol=0.5), EMOptions(max_iter=100, tol=0.05)


def can_be_joint(regressors: Regressors, n_components: int) -> bool:
    """Return whether a joint model can be estimated."""
    n_features = regressors.design.n_coordinates
    is_dense = not regressors.partitions.layout.is_sparse
    return is_dense and n_components > 1 and 0 < n_features <= MAX_FEATURES


def choose_model(
    regressors: Regressors, part: Regressors, plain: EMResult[RegressionMixture], joint: Joint, options: EMOptions
) -> EMResult[RegressionMixture]:
    """Choose between a mixture of regressions and the joint model of x and y.

    Parameters
    ----------
    regressors : Regressors
        All samples.
    part : Regressors
        Enough of them to choose by, in the memory of this process.
    plain : EMResult
        The mixture in which x does not differ between components.
    joint : bool or "auto"
    options : EMOptions

    Returns
    -------
    EMResult
        If it is joint, its objectives are the log-likelihoods of x and y together.
    """
    if joint is False or not can_be_joint(regressors, plain.state.n_components):
        return plain
    samples = take_whole(part)
    found = fit_joint(samples, plain.state)
    if joint == "auto" and not prefers_joint(samples, found.state, plain.state):
        return plain
    return maximize_whole(take_whole(regressors), found.state, options)


def fit_joint(samples: WholeSamples, plain: RegressionMixture) -> EMResult[RegressionMixture]:
    """Fit the joint model: from the members of the plain one, and from clusters of (x, y).

    Parameters
    ----------
    samples : WholeSamples
        In the memory of this process.
    plain : RegressionMixture

    Returns
    -------
    EMResult
    """
    resp = evaluate_whole(samples, plain).resp
    starts = [mixture_from_resp(samples, resp), *draw_clusters(samples, plain.n_components)]
    return likeliest_whole(samples, starts, OPTIONS)


def likeliest_whole(
    samples: WholeSamples, starts: list[RegressionMixture], options: EMOptions
) -> EMResult[RegressionMixture]:
    """Return the likeliest of the mixtures that starts lead to; most of them are given up after a few iterations.

    Notes
    -----
    Examples are all of one component because somebody chose them so. The weight of that component counts once, as in
    `posterior_of_all`, and not for each of them: a large component is not likelier for that.
    """
    n_chosen = max(samples.n_held - 1, 0)

    def value(result: EMResult[RegressionMixture]) -> float:
        return result.objectives[-1] - n_chosen * float(result.state.log_weights[0])

    tried = sorted((maximize_whole(samples, start, START) for start in starts), key=value, reverse=True)
    return max((maximize_whole(samples, each.state, options) for each in tried[:N_CONTINUED]), key=value)


def prefers_joint(samples: WholeSamples, joint: RegressionMixture, plain: RegressionMixture) -> bool:
    """Return whether x differs between regressions, by the likelihood of y given x.

    Notes
    -----
    Both models say how likely y is given x: the joint one with weights that depend on x. The likelihood of x itself
    does not enter, or components would be spent on an x that is not normal, whatever y is. If x does not differ, twice
    the gain is at most a chi-square variable with as many degrees of freedom as the further k - 1 Gaussians have
    parameters.
    """
    gain = likelihood_of_responses(samples, joint) - likelihood_of_responses(samples, plain)
    return gain > min_gain(samples, joint.n_components)


def min_gain(samples: WholeSamples, n_components: int) -> float:
    """Return what distributions of x must gain, in nats."""
    return 0.5 * float(chi2.isf(MAX_P_VALUE, n_feature_parameters(n_components - 1, samples.n_features)))


def draw_clusters(
    samples: WholeSamples, n_components: int, first: Array | None = None, n_starts: int = N_STARTS
) -> list[RegressionMixture]:
    """Draw joint models of samples near points that are far from each other, as k-means++ does.

    Parameters
    ----------
    samples : WholeSamples
        In the memory of this process.
    n_components : int
    first : array of shape (r + 1,), optional
        The first point of every start, (z, y).
    n_starts : int

    Returns
    -------
    list of RegressionMixture
    """
    rng = np.random.default_rng(0)  # the same answer every time
    partition = samples.partitions.collect().partition
    unit = np.sqrt(samples.regressors.response_variance)
    points = np.column_stack([partition.features[:, :-1], partition.responses / unit])
    start = None if first is None else np.append(first[:-1], first[-1] / unit)
    return [mixture_from_resp(samples, _draw_resp(points, n_components, start, rng)) for _ in range(n_starts)]


def _draw_resp(points: Array, n_components: int, first: Array | None, rng: np.random.Generator) -> Array:
    """Return responsibilities of round clusters around points far from each other, (n, k)."""
    squares = np.empty((len(points), n_components))
    center = points[rng.integers(len(points))] if first is None else first
    for index in range(n_components):
        squares[:, index] = np.sum((points - center) ** 2, axis=1)
        nearest = squares[:, : index + 1].min(axis=1) + np.finfo(np.float64).tiny
        center = points[rng.choice(len(points), p=nearest / nearest.sum())]
    logs = -0.5 * squares
    return np.asarray(np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None]))
