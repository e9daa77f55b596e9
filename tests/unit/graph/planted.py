"""Planted samples that do not follow a mixture of subspaces, and planted graphs."""

import numpy as np
import scipy.sparse as sp


def draw_loops(n_loops=6, n=60, d=80, seed=0):
    """Draw samples of closed curves with many harmonics, as images of turning objects are."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    waves = np.hstack([[np.cos(f * angles) / f, np.sin(f * angles) / f] for f in range(1, 7)]).reshape(12, n).T
    loops = [waves @ rng.normal(size=(12, d)) for _ in range(n_loops)]
    return np.concatenate(loops) + 0.02 * rng.normal(size=(n_loops * n, d)), np.repeat(np.arange(n_loops), n)


def make_two_groups(n=40, seed=0):
    """Draw a graph of two groups of the same size."""
    rng = np.random.default_rng(seed)
    same = np.equal.outer(np.arange(n) < n // 2, np.arange(n) < n // 2)
    edges = np.triu(rng.random((n, n)) < np.where(same, 0.5, 0.02), 1) * rng.random((n, n))
    return sp.csr_array(edges + edges.T)
