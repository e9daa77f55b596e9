"""Mixtures whose moments are known in closed form, written independently of the package's own formulas."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from mixsearch.core.frame import Frame


@dataclass(frozen=True)
class Mixture:
    """Centers, weights and a hint under which the first center scores highest."""

    centers: np.ndarray  # (k, d)
    weights: np.ndarray  # (k,)
    hint: np.ndarray  # (d,)

    @property
    def scores(self):
        return self.centers @ self.hint

    @property
    def mean(self):
        return self.weights @ self.centers

    @property
    def second(self):
        return (self.centers.T * self.weights) @ self.centers

    @property
    def hinted(self):
        return (self.centers.T * (self.weights * self.scores)) @ self.centers

    @property
    def frame(self):
        return frame_of(self.second, len(self.weights))


def frame_of(second, rank):
    values, vectors = np.linalg.eigh(second)
    return Frame(vectors[:, ::-1][:, :rank], values[::-1][:rank])


def whitener(frame):
    return frame.basis / np.sqrt(frame.values)


def draw_mixture(seed, n_components, n_features, sign=1.0):
    """Well-conditioned centers and a hint that scores the first one 2 to 3 times as high as any other."""
    rng = np.random.default_rng(seed)
    centers = np.linalg.qr(rng.normal(size=(n_features, n_components)))[0].T
    centers = (
        np.eye(n_components) + 0.2 * rng.normal(size=(n_components, n_components)) / np.sqrt(n_components)
    ) @ centers
    centers *= rng.uniform(1, 2, size=(n_components, 1))
    weights = rng.uniform(1, 3, size=n_components)
    scores = np.concatenate([[3.0], rng.uniform(-1.0, 1.5, size=n_components - 1)])
    hint = np.linalg.pinv(centers) @ scores
    return Mixture(centers, weights / weights.sum(), sign * hint)


sizes = st.tuples(st.integers(1, 20), st.integers(0, 180)).map(lambda pair: (pair[0], pair[0] + pair[1]))
mixtures = st.builds(lambda seed, size: draw_mixture(seed, *size), st.integers(0, 2**32 - 1), sizes)
