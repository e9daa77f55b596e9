"""The last steps of LDA, with shares drawn from their posterior: a bound is highest only near the best topics."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from mixsearch.blocks import Product, RowBlocks, n_cores, sum_blocks
from mixsearch.types import Array

# Steps of expectation maximisation, and draws that each of them averages over.
N_ROUNDS, N_DRAWS = 3, 8
# Draws of the first round that are not yet from the posterior.
N_UNSETTLED = 4


def average_over_draws(
    blocks: RowBlocks, topics: Array, beliefs: Array, prior: Array, word_prior: float
) -> tuple[Array, Array]:
    """Topics, (d, k), and expected shares, (n, k), after steps of Monte Carlo expectation maximisation.

    Parameters
    ----------
    blocks : RowBlocks of shape (n, d)
        Whole counts.
    topics : array of shape (d, k)
        Where variational steps led.
    beliefs : array of shape (n, k)
        Parameters of the Dirichlet distributions that the first shares are drawn from.
    prior : array of shape (k,)
    word_prior : float

    Notes
    -----
    Gibbs sampling within each document, topics held: the topics of its words given its shares, then its shares given
    those. Only shares are drawn; words are counted with their chances given the shares (Rao and Blackwell), so that a
    few draws do. Every block of documents has random numbers of its own: the answer is the same every time.
    """
    shares = _draw_shares(np.random.default_rng(0), beliefs)
    means = np.empty_like(beliefs)
    for number in range(N_ROUNDS):
        said = _draw_round(blocks, topics, shares, prior, number, means) + word_prior
        topics = said / said.sum(axis=0)
    return topics, means


def _draw_round(blocks: RowBlocks, topics: Array, shares: Array, prior: Array, number: int, means: Array) -> Array:
    """Words expected of each topic, (d, k); shares are drawn anew, (n, k), and their means written beside them."""
    n_idle = N_UNSETTLED if number == 0 else 0

    def work(block: tuple[int, slice]) -> Product:
        index, rows = block
        rng = np.random.default_rng([number, index])
        shares[rows], means[rows], said = _draw(rng, blocks.read(index), topics, shares[rows], prior, n_idle)
        return Product(said)

    return np.asarray(sum_blocks(work, blocks.numbered(), n_cores()).total)


def _draw(
    rng: np.random.Generator, counts: sp.csr_array, topics: Array, shares: Array, prior: Array, n_idle: int
) -> tuple[Array, Array, Array]:
    """The last shares of a block of documents, their mean, and the mean of the words expected of each topic, (d, k)."""
    times, n_held = counts.data.astype(np.int64), np.diff(counts.indptr)
    per_document = sp.csr_array(
        (np.ones(counts.nnz), np.arange(counts.nnz), counts.indptr), shape=(counts.shape[0], counts.nnz)
    )
    of_words = np.take(topics, counts.indices, axis=0)
    chances_sum, means = np.zeros_like(of_words), np.zeros_like(shares)
    for draw in range(N_DRAWS):
        chances = np.repeat(shares, n_held, axis=0) * of_words
        chances /= np.maximum(chances.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        beliefs = prior + per_document @ rng.multinomial(times, chances)
        shares = _draw_shares(rng, beliefs)
        if draw >= n_idle:
            chances_sum += chances
            means += beliefs / beliefs.sum(axis=1, keepdims=True)
    n_used = N_DRAWS - n_idle
    expected = sp.csc_array((counts.data, counts.indices, np.arange(counts.nnz + 1)), shape=(len(topics), counts.nnz))
    return shares, means / n_used, np.asarray(expected @ chances_sum) / n_used


def _draw_shares(rng: np.random.Generator, beliefs: Array) -> Array:
    """From the Dirichlet distribution of each document, (n, k), up to a factor."""
    return np.maximum(rng.standard_gamma(beliefs), np.finfo(np.float64).tiny)
