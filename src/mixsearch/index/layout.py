"""Layout of a map: circles in the plane, similar ones near each other, none over another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.eigen import orient

# The plane is 1 wide, and as high as fits a screen.
HEIGHT = 2 / 3
# The part of the plane that all circles cover; the rest is for labels.
COVERED = 0.2
MAX_RADIUS, MIN_RADIUS = 0.09, 0.011
# Between two circles, and from the border.
GAP = 0.014
# The mean distance aimed at: that of points that fill the plane evenly. Larger ones pile up circles at the border.
MEAN_DISTANCE = 0.42
# Distances are those of a round map, which is then stretched to the plane's shape.
STRETCH = np.array([HEIGHT**-0.5, HEIGHT**0.5])
# Rounds in which steps towards distances and between circles alternate, and rounds for circles alone at the end.
N_ROUNDS, N_LAST_ROUNDS = 150, 300
# The first step size towards the wanted distances, and the step size that separates circles.
PULL, PUSH = 0.5, 0.25

_CENTER = np.array([0.5, HEIGHT / 2])
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


class Circles(NamedTuple):
    """Circles in a plane of width 1 and height `HEIGHT`."""

    centers: Array  # (n, 2)
    radii: Array  # (n,)


def arrange_circles(distances: Array, sizes: Array) -> Circles:
    """Place circles so that similar ones are near each other and none overlap.

    Notes
    -----
    Topics differ in more than two ways: classical scaling crowds most of them into the middle, and pushing circles
    apart there mixes neighbours. So it is only the start; then steps towards the wanted distances alternate with steps
    that separate circles. On the docstrings this raises the rank correlation of distances in the plane with the true
    ones from 0.4 to 0.6. Nothing is random.
    """
    radii = _compute_radii(sizes)
    if len(radii) == 1:
        return Circles(_CENTER[None], radii)
    mean = distances[np.triu_indices(len(distances), 1)].mean()
    wanted = distances * (MEAN_DISTANCE / mean if mean > 0 else 1.0)
    centers = _clip_to_plane(_CENTER + STRETCH * scale_to_plane(wanted), radii)
    for pull in np.linspace(PULL, 0, N_ROUNDS, endpoint=False):
        centers = _clip_to_plane(centers + pull * _step_to_distances(wanted, centers), radii)
        centers = _clip_to_plane(centers + PUSH * _step_apart(centers, radii), radii)
    return _separate(centers, radii)


def scale_to_plane(distances: Array) -> Array:
    """Return points in the plane, (n, 2), whose distances approximate a matrix of distances, (n, n).

    Notes
    -----
    Classical multidimensional scaling: -JD²J/2 with J = I - 11'/n holds the inner products of the points, and its
    first two eigenpairs are their principal axes. Points in a plane are recovered exactly.
    """
    squares = distances**2
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh((means[:, None] + means - squares - means.mean()) / 2)
    return np.asarray(orient(vectors[:, :-3:-1]) * np.sqrt(np.maximum(values[:-3:-1], 0)))


def _compute_radii(sizes: Array) -> Array:
    """Return radii, (n,): areas are proportional to sizes, but no circle is too small to point at."""
    sides = np.sqrt(sizes)
    full = np.sqrt(COVERED * HEIGHT / np.pi / max(sizes.sum(), 1e-300))
    return np.asarray(np.maximum(sides * min(full, MAX_RADIUS / max(sides.max(), 1e-300)), MIN_RADIUS))


def _clip_to_plane(centers: Array, radii: Array) -> Array:
    """Return the nearest centers with which circles are within the plane, (n, 2)."""
    margin = radii[:, None] + GAP
    return np.clip(centers, margin, np.array([1, HEIGHT]) - margin)


def _step_to_distances(wanted: Array, centers: Array) -> Array:
    """Return a step that reduces the squared errors of all distances, (n, 2)."""
    between, lengths = _pairwise_vectors(centers / STRETCH)
    return np.asarray(STRETCH * np.einsum("ij,ijk->ik", wanted / lengths - 1, between) / len(centers))


def _step_apart(centers: Array, radii: Array) -> Array:
    """Return a step that separates circles, (n, 2)."""
    between, lengths = _pairwise_vectors(centers)
    overlap = np.maximum(radii[:, None] + radii + GAP - lengths, 0)
    return np.asarray(np.einsum("ij,ijk->ik", overlap / lengths, between))


def _separate(centers: Array, radii: Array) -> Circles:
    """Push circles apart until none touches another; shrink them if the plane is too small."""
    for _ in range(N_LAST_ROUNDS):
        step = _step_apart(centers, radii)
        # At least half of the gap is left then.
        if np.abs(step).max() < GAP / 2:
            break
        centers = _clip_to_plane(centers + PUSH * step, radii)
    _, lengths = _pairwise_vectors(centers)
    room = lengths / (radii[:, None] + radii)
    return Circles(centers, radii * min(1.0, float(room.min())))


def _pairwise_vectors(centers: Array) -> tuple[Array, Array]:
    """Return vectors between all centers, (n, n, 2), and their lengths, (n, n), infinite on the diagonal."""
    # Equal centers get a direction too, a different one each.
    angles = _GOLDEN_ANGLE * np.arange(len(centers))
    moved = centers + 1e-6 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    between = moved[:, None] - moved
    lengths = np.sqrt((between**2).sum(axis=2))
    np.fill_diagonal(lengths, np.inf)
    return between, lengths
