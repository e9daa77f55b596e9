"""Interpolate what is known at seeds over all superpixels of an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.segmentation._gaussians import softmax_in_place
from mixsearch.segmentation._graph import SimilarityGraph

# Added to the diagonal of the similarities of seeds, so that two alike ones of different segments do not cancel others.
RIDGE = 0.1
# Probabilities are the softmax of scores times this: fitted so that they hold on annotated photographs.
SHARPNESS = 11.0
# A further seed changes superpixels that are at least this sure only if no other seed is more similar to them.
SURE = 0.7
# With a single segment, these many superpixels unlike its seeds stand for the rest.
N_REST = 2


class KnownSuperpixels(NamedTuple):
    """Superpixels with seeds, and what the seeds say."""

    indices: Array  # (q,), distinct
    targets: Array  # (q, k): the probability of each segment; rows sum to 1


def collect_known(seeded: Sequence[Array], excluded: Sequence[Array], similarity: Array) -> KnownSuperpixels:
    """Combine the superpixels of the seeds of each segment, and of those known not to be of it.

    A superpixel with seeds of several segments has equal parts of them. One that is only excluded from some may be any
    other. A last segment about which nothing is known is the rest of the image.
    """
    indices = np.unique(np.concatenate([*seeded, *excluded]))
    votes, vetoes = (np.zeros((len(indices), len(seeded))) for _ in range(2))
    for i, (some, others) in enumerate(zip(seeded, excluded, strict=True)):
        votes[np.searchsorted(indices, some), i] = 1
        vetoes[np.searchsorted(indices, others), i] = 1
    for open_to in (1 - vetoes, np.ones_like(vetoes)):  # all excluded is as good as nothing known
        unnamed = votes.sum(axis=1) == 0
        votes[unnamed] = open_to[unnamed]
    known = KnownSuperpixels(indices, votes / votes.sum(axis=1, keepdims=True))
    return known if votes[:, -1].any() else _add_rest(known, similarity)


def _add_rest(known: KnownSuperpixels, similarity: Array) -> KnownSuperpixels:
    """Let the superpixels least similar to all known ones, one after the other, stand for the last segment."""
    indices, targets = known
    for _ in range(min(N_REST, len(similarity) - len(indices))):
        farthest = int(similarity[:, indices].max(axis=1).argmin())
        indices = np.append(indices, farthest)
        targets = np.vstack([targets, np.eye(targets.shape[1])[-1]])
    return KnownSuperpixels(indices, targets)


def interpolate_known(known: KnownSuperpixels, similarity: Array) -> Array:
    """Return the probability of each segment at every superpixel, (n, k).

    Notes
    -----
    Kriging: scores are K(x, s) (K(s, s) + ridge I)⁻¹ (targets - 1/k), with the similarity as covariance. Seeds that are
    alike share their weight, so that a further seed corrects what those before it left open. Scores fade with the
    distance from all seeds; relative to the similarity of the closest one they say how sure the label is.
    """
    indices, targets = known
    among, across = similarity[np.ix_(indices, indices)], similarity[:, indices]
    weights = np.linalg.solve(among + RIDGE * np.eye(len(indices)), targets - 1 / targets.shape[1])
    scores = (across @ weights) / np.maximum(across.max(axis=1), np.finfo(float).tiny)[:, None]
    probabilities = softmax_in_place(SHARPNESS * scores.T).T
    allowed = probabilities[indices] * (targets > 0)
    probabilities[indices] = allowed / allowed.sum(axis=1, keepdims=True)
    return np.asarray(probabilities)


def correct_locally(
    before: Array, after: Array, added: Sequence[Array], known: KnownSuperpixels, graph: SimilarityGraph
) -> Array:
    """Return the probabilities after further seeds, with changes near them and where they were in doubt.

    Parameters
    ----------
    before, after : arrays of shape (n, k)
        The probabilities interpolated without and with the further seeds.
    added : sequence of arrays
        The superpixels of the further seeds of each segment.
    known : KnownSuperpixels
        All superpixels with seeds.
    graph : SimilarityGraph

    Returns
    -------
    array of shape (n, k)
    """
    changed = before.max(axis=1) < SURE
    changed[known.indices] = True
    labels_before, labels = before.argmax(axis=1), after.argmax(axis=1)
    for i, some in enumerate(added):
        others = np.setdiff1d(known.indices, some)
        if not len(some) or not len(others):
            continue
        is_nearest = graph.similarity[:, some].max(axis=1) >= graph.similarity[:, others].max(axis=1)
        flips = is_nearest & (labels == i) & (labels_before != i)
        flips[some] = True
        pieces = graph.superpixels.connect(flips)
        changed |= flips & np.isin(pieces, pieces[some])
    return np.where(changed[:, None], after, before)
