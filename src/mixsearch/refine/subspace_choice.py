"""Which subspace of a mixture a hint means, and how sure that is."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from mixsearch.blocks import interleaved_slices
from mixsearch.models import SubspaceModel
from mixsearch.refine.subspace import Subspaces, coordinates, log_densities, memberships
from mixsearch.types import Array

N_DRAWS = 1000


def chances_of_samples(mixture: Subspaces, Z: Array) -> Array:
    """The probability of every subspace for samples in the span, (q, p), that all belong to the same one, (k,)."""
    logs = log_densities(mixture, Z).sum(axis=0) - (len(Z) - 1) * np.log(mixture.weights)
    return np.asarray(softmax(logs))


def held_by(mixture: Subspaces, point: Array) -> Array:
    """|Uᵢ'v|², (k,): how much of a point in the span, (p,), each subspace holds."""
    return np.asarray(np.sum((point @ mixture.bases) ** 2, axis=1))


def chances_of_point(model: SubspaceModel, mixture: Subspaces, point: Array) -> Array:
    """The part of imagined samples on which each subspace holds most of a point, (k,).

    Notes
    -----
    Leaving out a block of samples moves Uᵢ'v by diag(lᵢ)⁻¹Uᵢ'CᵢP⊥v to first order, where Cᵢ is the second moment of
    the members left out. |Uᵢ'v|² on other samples are imagined as those of these, plus normal noise with the covariance
    that the jackknife gives.
    """
    moves = _moves(model, mixture, point)
    n_blocks = len(moves)
    held = np.sum((point @ mixture.bases - moves) ** 2, axis=2)
    rng = np.random.default_rng(0)  # the same answer every time
    draws = rng.standard_normal((N_DRAWS, n_blocks)) * np.sqrt((n_blocks - 1) / n_blocks)
    imagined = held_by(mixture, point) + draws @ (held - held.mean(axis=0))
    return np.asarray(np.bincount(imagined.argmax(axis=1), minlength=len(mixture.weights)) / N_DRAWS)


def _moves(model: SubspaceModel, mixture: Subspaces, point: Array) -> Array:
    """What each block of samples adds to Uᵢ'v, (B, k, r)."""
    Z = coordinates(model, model.projected)
    members = memberships(mixture, Z)
    inside = point @ mixture.bases
    beside = point - np.einsum("kpr,kr->kp", mixture.bases, inside)
    leaning = members * (Z @ beside.T)
    blocks = interleaved_slices(len(Z))
    sums = [np.einsum("nk,np,kpr->kr", leaning[rows], Z[rows], mixture.bases, optimize=True) for rows in blocks]
    # A subspace that is lost in the noise, or has no members, moves no further than one that is not.
    size = np.maximum(mixture.weights * len(Z), 1)[:, None] * np.maximum(mixture.variances, mixture.noise)
    return np.asarray(np.array(sums) / (size * (1 - 1 / len(blocks))))
