"""Planted samples that do not follow a mixture of subspaces of equal dimension."""

import numpy as np


def draw_flats(dims, n=200, d=30, deviation=0.2, offset=0.0, seed=0):
    """Draw samples near flats of given dimensions, each off the origin by an offset; return them and their labels."""
    rng = np.random.default_rng(seed)
    parts = []
    for dim in dims:
        basis, _ = np.linalg.qr(rng.normal(size=(d, dim)))
        center = offset * rng.normal(size=d) / np.sqrt(d)
        parts.append(rng.normal(size=(n, dim)) @ basis.T + center + deviation * rng.normal(size=(n, d)))
    return np.concatenate(parts), np.repeat(np.arange(len(dims)), n)


def draw_loops(n_loops=6, n=60, d=80, seed=0):
    """Draw samples of closed curves with many harmonics, as images of turning objects are."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    waves = np.hstack([[np.cos(f * angles) / f, np.sin(f * angles) / f] for f in range(1, 7)]).reshape(12, n).T
    loops = [waves @ rng.normal(size=(12, d)) for _ in range(n_loops)]
    return np.concatenate(loops) + 0.02 * rng.normal(size=(n_loops * n, d)), np.repeat(np.arange(n_loops), n)
