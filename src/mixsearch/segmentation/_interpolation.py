"""Interpolate what is known at seeds over all superpixels of an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.segmentation._gaussians import softmax_in_place
from mixsearch.segmentation._superpixels import Superpixels

# Added to the diagonal of the similarities of seeds, so that two alike ones of different segments do not cancel others;
# and to that of their proximities.
RIDGE, RIDGE_NEAR = 0.1, 0.05
# The noise of a seed grows with this power of the number of its segment's seeds, relative to the mean of all segments.
BALANCE = 2
# Probabilities are the softmax of scores times this: fitted so that they hold on annotated photographs.
SHARPNESS = 9.0
# With a single segment, these many superpixels unlike its seeds stand for the rest.
N_REST = 2


class KnownSuperpixels(NamedTuple):
    """Superpixels with seeds, and their labels."""

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
    """Choose superpixels for the last segment: one after the other, the least similar to all known ones."""
    indices, targets = known
    for _ in range(min(N_REST, len(similarity) - len(indices))):
        farthest = int(similarity[:, indices].max(axis=1).argmin())
        indices = np.append(indices, farthest)
        targets = np.vstack([targets, np.eye(targets.shape[1])[-1]])
    return KnownSuperpixels(indices, targets)


def interpolate_known(known: KnownSuperpixels, similarity: Array, proximity: Array) -> Array:
    """Return the probability of each segment at every superpixel, (n, k).

    Notes
    -----
    Kriging: scores are K(x, s) (K(s, s) + R)⁻¹ (targets - 1/k), with the similarity as covariance. Seeds that are alike
    share their weight, so that a further seed corrects what those before it left open. The noise R grows with the
    number of a segment's seeds, since a segment does not become likelier by having more of them. Scores
    fade with the distance from all seeds; relative to the similarity of the closest one they say how sure the label is.
    What this leaves open at the seeds themselves is interpolated once more, with the proximity as covariance.
    """
    indices, targets = known
    centered, counts = targets - 1 / targets.shape[1], targets.sum(axis=0)
    noise = RIDGE * (targets @ (counts / counts.mean()) ** BALANCE)
    closest = np.maximum(similarity[:, indices].max(axis=1), np.finfo(float).tiny)
    scores = _krige(similarity, indices, noise, centered) / closest[:, None]
    scores += _krige(proximity, indices, np.full(len(indices), RIDGE_NEAR), centered - scores[indices])
    probabilities = softmax_in_place(SHARPNESS * scores.T).T
    allowed = np.maximum(probabilities[indices], np.finfo(float).tiny) * (targets > 0)
    probabilities[indices] = allowed / allowed.sum(axis=1, keepdims=True)
    return np.asarray(probabilities)


def _krige(covariance: Array, indices: Array, noise: Array, values: Array) -> Array:
    """Return the expected values of a Gaussian process, (n, k), of which some are known with noise."""
    among = covariance[np.ix_(indices, indices)] + np.diag(noise)
    return np.asarray(covariance[:, indices] @ np.linalg.solve(among, values))


def correct_locally(
    before: Array, after: Array, added: Sequence[Array], known: KnownSuperpixels, superpixels: Superpixels
) -> Array:
    """Return the probabilities after further seeds, changed only where the seeds are connected with the change.

    A superpixel goes to the segment of a further seed if that is at least as sure as its label was before.

    Parameters
    ----------
    before, after : arrays of shape (n, k)
        The probabilities interpolated without and with the further seeds.
    added : sequence of arrays
        The superpixels of the further seeds of each segment.
    known : KnownSuperpixels
        All superpixels with seeds.
    superpixels : Superpixels

    Returns
    -------
    array of shape (n, k)
    """
    changed = np.zeros(len(before), dtype=bool)
    changed[known.indices] = True
    labels_before, labels = before.argmax(axis=1), after.argmax(axis=1)
    is_surer = after.max(axis=1) >= before.max(axis=1)
    for i, some in enumerate(added):
        flips = is_surer & (labels == i) & (labels_before != i)
        flips[some] = True
        pieces = superpixels.connect(flips)
        changed |= flips & np.isin(pieces, pieces[some])
    return np.where(changed[:, None], after, before)
