"""Whether the hint picked the right component: how often another one would come first on other samples."""

from __future__ import annotations

import numpy as np

from mixsearch.blocks import one_blas_thread
from mixsearch.types import Array, Hinted, Replicates
from mixsearch.uncertainty.jackknife import whitened

N_DRAWS = 10_000


def chance_of_being_right(
    hinted: Hinted,
    replicates: Replicates,
    axes: Array,
    place: int,
    *,
    choose: str,
    hint_moves: Array | None = None,
) -> float:
    """The part of imagined samples on which the component found comes first.

    Parameters
    ----------
    hinted : Hinted
        R and W'm of all samples.
    replicates : Replicates
        Of the same hint.
    axes : array of shape (k, q)
        The directions √αᵢW'μᵢ of all components that could come first, orthonormal, as no single hint shows them.
    place : int
        Which of them was found.
    choose : {"largest", "share"}
        What puts the components in order.
    hint_moves : array of shape (B, k), optional
        How the hint in the frame moves with each replicate, where it does.

    Notes
    -----
    Scores of other samples are imagined as those of these, plus normal noise with the covariance that the jackknife
    gives. The eigenvectors of R themselves would not do: noise turns those of two components with nearly the same score
    into each other, and drives the two eigenvalues apart, so that the answer always looks surer than it is.
    """
    with one_blas_thread:  # many small matrices: other threads would only wait for each other
        return _part_of_draws(hinted, replicates, axes, place, choose, hint_moves)


def _part_of_draws(
    hinted: Hinted, replicates: Replicates, axes: Array, place: int, choose: str, hint_moves: Array | None
) -> float:
    matrices, means, _ = whitened(replicates)
    draws = np.random.default_rng(0).standard_normal((N_DRAWS, len(means)))  # the same answer every time
    along, overlaps = _along(axes, matrices), hinted.mean @ axes
    if hint_moves is not None:  # ⟨μᵢ, v⟩ = ⟨W'μᵢ, c⟩, with W'μᵢ = uᵢ / √αᵢ
        along += hint_moves @ axes / np.where(overlaps == 0, np.inf, overlaps)
    scores = _imagine(_along(axes, hinted.matrix[None])[0], along, draws)
    if choose == "share":
        scores = scores * np.abs(_imagine(overlaps, means @ axes, draws))
    return float(np.mean(scores.argmax(axis=1) == place))


def _along(axes: Array, matrices: Array) -> Array:
    """The diagonals of matrices in the coordinates of the axes, (B, q)."""
    return np.asarray(np.einsum("ai,bac,ci->bi", axes, matrices, axes, optimize=True))


def _imagine(estimate: Array, replicates: Array, draws: Array) -> Array:
    """Estimates from other samples, (n, q)."""
    n_blocks = len(replicates)
    return np.asarray(estimate + draws @ (replicates - replicates.mean(axis=0)) * np.sqrt((n_blocks - 1) / n_blocks))
