"""Standard errors of maximum likelihood estimates by the sandwich formula."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mixsearch._typing import Array
from mixsearch.core.rows import CACHED_ROWS, Chunk, Chunks, row_slices, sum_chunks
from mixsearch.mixture.em import Model, P, posterior
from mixsearch.mixture.tuning import TUNING


def estimate_covariance(model: Model[P], rows: Chunks[Chunk], params: P, component: int) -> Array:
    """Estimate the covariance of a component's parameters and of its weight, (p + 1, p + 1), by J⁻¹KJ⁻¹.

    Notes
    -----
    The score of a row in the mixture is its score as a member, times the responsibility (Fisher's identity). The
    information J is that of known memberships, less what is lost by not knowing them: the covariance of the scores
    over the posterior of a row (Louis, 1982). J and K = Σ ss' agree if the rows follow the model; if not, the sandwich
    is still right. Components that share no rows with this one leave its errors alone.
    """
    shared = rows.sum(_sum_overlap, model, params, component)
    shares = shared / max(float(shared.sum()), np.finfo(np.float64).tiny)
    order = [int(i) for i in np.argsort(-shares, kind="stable") if i != component and shares[i] > TUNING.min_overlap]
    chosen = [component, *order[: TUNING.max_overlapping]]
    total, products, within, statistics = rows.sum(_sum_scores, model, params, tuple(chosen))
    blocks = [model.information(statistics, params, i) for i in chosen]
    size, weights = len(blocks[0]) + 1, np.asarray(params.weights)[chosen]
    last = np.arange(size - 1, len(chosen) * size, size)  # log weights
    complete = scipy.linalg.block_diag(*(np.pad(block, (0, 1)) for block in blocks))
    complete[np.ix_(last, last)] = rows.n_rows * (np.diag(weights) - np.outer(weights, weights))
    inverse = invert_information(complete - within + products)
    variation = products - np.outer(total, total) / rows.n_rows
    # The weight of this component moves with all log weights λ: by α₁(λ₁ - Σ αᵢλᵢ).
    to_answer = np.eye(size, len(complete))
    to_answer[-1, last] -= weights
    to_answer[-1] *= weights[0]
    root = to_answer @ inverse
    return np.asarray(root @ variation @ root.T)


def _sum_overlap(chunk: Chunk, model: Model[P], params: P, component: int) -> Array:
    """Sum the products of responsibilities, Σ r₁r, (k,)."""
    resp = posterior(model, chunk, params)
    return np.asarray(resp[:, component] @ resp)


def _sum_scores(chunk: Chunk, model: Model[P], params: P, chosen: tuple[int, ...]) -> tuple[Array, ...]:
    """Sum the scores s of rows in the mixture, ss', r sᵢsᵢ' with scores of members, block-diagonal, and statistics."""

    def sum_rows(rows: slice) -> tuple[Array, ...]:
        piece = chunk.take(rows)
        resp = posterior(model, piece, params)
        members = [np.column_stack([model.scores(piece, params, i), np.ones(len(resp))]) for i in chosen]
        weighted = [scores * resp[:, [i]] for scores, i in zip(members, chosen, strict=True)]
        within = scipy.linalg.block_diag(*(one.T @ other for one, other in zip(members, weighted, strict=True)))
        scores = np.hstack(weighted)
        return scores.sum(axis=0), scores.T @ scores, within, model.statistics(piece, resp)

    return sum_chunks(sum_rows, row_slices(chunk.n_rows, 8 * CACHED_ROWS))


def invert_information(information: Array) -> Array:
    """Compute the pseudo-inverse of an information matrix, (p, p): zero for parameters without information.

    Each parameter is scaled by its own information first: that of centers and of weights may differ by any factor, and
    the smaller would be lost to rounding.
    """
    scale = np.sqrt(np.maximum(np.diag(information), 0))
    units = 1 / np.where(scale > 0, scale, np.inf)
    scaled = information * units[:, None] * units
    return np.asarray(units[:, None] * np.linalg.pinv(scaled, rcond=1e-12, hermitian=True) * units)
