"""Planted samples that do not follow a mixture of subspaces."""

import numpy as np


def draw_loops(n_loops=6, n=60, d=80, seed=0):
    """Draw samples of closed curves with many harmonics, as images of turning objects are."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    waves = np.hstack([[np.cos(f * angles) / f, np.sin(f * angles) / f] for f in range(1, 7)]).reshape(12, n).T
    loops = [waves @ rng.normal(size=(12, d)) for _ in range(n_loops)]
    return np.concatenate(loops) + 0.02 * rng.normal(size=(n_loops * n, d)), np.repeat(np.arange(n_loops), n)
