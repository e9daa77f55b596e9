"""LDA with seeded topics, by Gibbs sampling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import row_slices

# Nonzero counts whose topics are drawn at once, and pseudo-counts of a seed.
CHUNK, SEED_COUNTS = 100_000, 50.0


def seeded_lda(
    counts: sp.csr_array,
    n_topics: int,
    seeds: Sequence[int],
    *,
    alpha: float = 0.1,
    eta: float = 0.01,
    n_iter: int = 20,
    random_state: int = 0,
) -> Array:
    """Sample topics, (k, d), of which the first have one seed word each, and return their mean over the second half.

    The prior of a seeded topic has pseudo-counts of its word (Jagarlamudi, Daumé and Udupa, "Incorporating lexical
    priors into topic models", 2012), and it starts from the words of the documents with the seed. A sweep draws the
    topics of all words given θ and φ, then θ and φ given these.
    """
    rng, counts = np.random.default_rng(random_state), sp.csr_array(counts)
    (n, d), k = counts.shape, n_topics
    documents, words = np.repeat(np.arange(n), np.diff(counts.indptr)), counts.indices
    times = counts.data.astype(np.int64)
    prior = np.full((k, d), eta)
    prior[np.arange(len(seeds)), seeds] += SEED_COUNTS
    theta, phi = np.full((n, k), 1 / k), _draw_dirichlet(np.ones((k, d)), rng)
    phi[: len(seeds)] = (counts[:, list(seeds)].T @ counts).toarray() + eta
    phi /= phi.sum(axis=1, keepdims=True)
    total = np.zeros((k, d))
    for sweep in range(n_iter):
        by_document, by_word = np.zeros((n, k)), np.zeros((d, k))
        for rows in row_slices(len(words), CHUNK):
            chances = theta[documents[rows]] * phi[:, words[rows]].T
            drawn = rng.multinomial(times[rows], chances / chances.sum(axis=1, keepdims=True))
            by_document += _sum_rows(drawn, documents[rows], n)
            by_word += _sum_rows(drawn, words[rows], d)
        theta, phi = (_draw_dirichlet(rates, rng) for rates in (alpha + by_document, prior + by_word.T))
        if sweep >= n_iter // 2:
            total += eta + by_word.T  # without the seeds, which are not observed
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _sum_rows(drawn: Array, groups: Array, n_groups: int) -> Array:
    """Sum the rows of each group, (n_groups, k)."""
    m = len(groups)
    return np.asarray(sp.csr_array((np.ones(m), (groups, np.arange(m))), shape=(n_groups, m)) @ drawn)


def _draw_dirichlet(rates: Array, rng: np.random.Generator) -> Array:
    """Draw one distribution for each row of rates."""
    drawn = rng.gamma(rates) + np.finfo(np.float64).tiny
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))
