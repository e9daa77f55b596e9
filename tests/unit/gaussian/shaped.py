"""Gaussians of any shape with a planted truth."""

from typing import Any, NamedTuple

import numpy as np

D = 4
CENTERS = 5.0 * np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [-0.5, -0.5, 1.0, 0]])
WEIGHTS = np.array([0.5, 0.3, 0.2])


class Planted(NamedTuple):
    X: Any
    labels: Any
    covariances: Any

    def members(self, component, n=5):
        return self.X[self.labels == component][:n]


def rotation(rng):
    return np.linalg.qr(rng.normal(size=(D, D)))[0]


def draw(shape, *, n=3000, seed=0, overlap=1.0):
    """Three Gaussians of one shape; an overlap above 1 brings them nearer."""
    rng = np.random.default_rng(seed)
    lengths = np.array([0.5, 0.8, 1.2, 1.8])
    shared = np.diag(lengths) @ rotation(rng)
    factors = {
        "spherical": [s * np.eye(D) for s in (0.7, 1.0, 1.4)],
        "diagonal": [np.diag(rng.permutation(lengths)) for _ in range(3)],
        "tied": [shared] * 3,
        "full": [np.diag(lengths) @ rotation(rng) for _ in range(3)],
    }[shape]
    labels = rng.choice(3, size=n, p=WEIGHTS)
    noise = rng.normal(size=(n, D))
    X = np.stack([CENTERS[i] / overlap + z @ factors[i] for i, z in zip(labels, noise, strict=True)])
    return Planted(X, labels, np.stack([each.T @ each for each in factors]))
