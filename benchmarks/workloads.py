"""Mixtures that several benchmarks draw: Gaussians of any shape, components with different noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces
from mixsearch.datasets.mixtures import MixedRegressionData, SubspacesData


class ShapedGaussians(NamedTuple):
    """Gaussians of any shape, with their truth."""

    X: Array  # (n, d)
    labels: Array  # (n,)
    centers: Array  # (k, d)
    weights: Array  # (k,)
    covariances: Array  # (k, d, d)

    def oracle(self) -> Array:
        """The means of the members, (k, d)."""
        return np.array([self.X[self.labels == i].mean(axis=0) for i in range(len(self.centers))])

    def precisions(self, shape: str) -> Array:
        """The true precisions, as scikit-learn has those of a shape."""
        full = np.linalg.inv(self.covariances)
        by_shape = {"spherical": full[:, 0, 0], "diagonal": np.einsum("kdd->kd", full), "tied": full[0], "full": full}
        return np.asarray(by_shape[shape])


def draw_shaped_gaussians(
    n_samples: int, n_features: int, k: int, shape: str, *, norm: float, seed: int
) -> ShapedGaussians:
    """Gaussians of one shape, with deviations from .5 to 2."""
    data = make_gaussian_mixture(n_samples, n_features, k, deviation=1.0, norm=norm, random_state=seed)
    rng = np.random.default_rng(seed)

    def rotation() -> Array:
        return np.asarray(np.linalg.qr(rng.standard_normal((n_features, n_features)))[0])

    def deviations() -> Array:
        return np.exp(rng.uniform(-np.log(2), np.log(2), n_features))

    shared = deviations()[:, None] * rotation()
    factor: dict[str, Callable[[], Array]] = {
        "spherical": lambda: np.exp(rng.uniform(-0.4, 0.4)) * np.eye(n_features),
        "diagonal": lambda: np.diag(deviations()),
        "tied": lambda: shared,
        "full": lambda: deviations()[:, None] * rotation(),
    }
    factors = [factor[shape]() for _ in range(k)]
    X = data.X.copy()
    for index, each in enumerate(factors):
        members = data.labels == index
        X[members] = data.centers[index] + (data.X[members] - data.centers[index]) @ each
    return ShapedGaussians(X, data.labels, data.centers, data.weights, np.stack([each.T @ each for each in factors]))


def draw_regressions(n_samples: int, n_features: int, deviations: Sequence[float], *, seed: int) -> MixedRegressionData:
    """Draw regressions with different noise."""
    data = make_mixed_regression(n_samples, n_features, len(deviations), deviation=0.0, random_state=seed)
    noise = np.random.default_rng(seed).standard_normal(n_samples)
    return replace(data, y=data.y + np.asarray(deviations)[data.labels] * noise)


def draw_subspaces(
    n_samples: int, n_features: int, scales: Sequence[Sequence[float]], deviations: Sequence[float], *, seed: int
) -> SubspacesData:
    """Draw subspaces with coordinates of given standard deviations, (k, r), and different noise, (k,)."""
    shape = np.shape(scales)
    data = make_subspaces(n_samples, n_features, shape[0], dim=shape[1], deviation=0.0, random_state=seed)
    X = np.asarray(deviations)[data.labels, None] * np.random.default_rng(seed).standard_normal(data.X.shape)
    for component, (basis, scale) in enumerate(zip(data.bases, scales, strict=True)):
        members = data.labels == component
        X[members] += (data.X[members] @ basis * scale) @ basis.T
    return replace(data, X=X)
