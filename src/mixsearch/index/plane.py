"""Circles in the plane: those that are alike near each other, none over another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch.linalg import orient
from mixsearch.types import Array

# The plane is 1 wide, and as high as fits a screen.
HEIGHT = 2 / 3
# All circles together cover so much of it: the rest is for what is written beside them.
COVERED = 0.2
LARGEST, SMALLEST = 0.09, 0.011
# Between two circles, and from the border.
GAP = 0.014
# The mean distance that is aimed at: of points that fill the plane evenly. Larger ones pile circles up at the border.
MEAN_DISTANCE = 0.42
# Distances are those of a round map, which is then stretched to the plane's shape.
STRETCH = np.array([HEIGHT**-0.5, HEIGHT**0.5])
# Rounds in which distances and circles take turns, and of circles alone at the end.
ROUNDS, LAST_ROUNDS = 150, 300
# How far a step goes towards the wanted distances at first, and towards circles that do not touch.
PULL, PUSH = 0.5, 0.25

_CENTER = np.array([0.5, HEIGHT / 2])
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


class Circles(NamedTuple):
    """Circles in a plane that is 1 wide and `HEIGHT` high."""

    centers: Array  # (n, 2)
    radii: Array  # (n,)


def arrange(distances: Array, sizes: Array) -> Circles:
    """Circles with areas by size, and the like near each other.

    Parameters
    ----------
    distances : array of shape (n, n)
        How much they differ, symmetric.
    sizes : array of shape (n,)
        Not negative.

    Notes
    -----
    Topics differ in more than two ways: classical scaling crowds most of them into the middle, and pushing circles
    apart there mixes neighbours. So it is the start only, and steps towards the wanted distances take turns with steps
    that part circles. On the docstrings, the rank correlation of distances in the plane with the true ones so becomes
    0.6 instead of 0.4. Nothing is drawn at random.
    """
    radii = _radii(sizes)
    if len(radii) == 1:
        return Circles(_CENTER[None], radii)
    mean = distances[np.triu_indices(len(distances), 1)].mean()
    wanted = distances * (MEAN_DISTANCE / mean if mean > 0 else 1.0)
    centers = _inside(_CENTER + STRETCH * scale_to_plane(wanted), radii)
    for pull in np.linspace(PULL, 0, ROUNDS, endpoint=False):
        centers = _inside(centers + pull * _towards(wanted, centers), radii)
        centers = _inside(centers + PUSH * _apart(centers, radii), radii)
    return _part(centers, radii)


def scale_to_plane(distances: Array) -> Array:
    """Points in the plane with about these distances, around the origin, (n, 2).

    Notes
    -----
    Classical multidimensional scaling: -JD²J/2 with J = I - 11'/n holds the inner products of the points, and its
    first two eigenpairs are their principal axes. Distances of points in a plane are reproduced.
    """
    squares = distances**2
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh((means[:, None] + means - squares - means.mean()) / 2)
    return np.asarray(orient(vectors[:, :-3:-1]) * np.sqrt(np.maximum(values[:-3:-1], 0)))


def _radii(sizes: Array) -> Array:
    """Areas go by size, but for circles too small to point at."""
    sides = np.sqrt(sizes)
    full = np.sqrt(COVERED * HEIGHT / np.pi / max(sizes.sum(), 1e-300))
    return np.asarray(np.maximum(sides * min(full, LARGEST / max(sides.max(), 1e-300)), SMALLEST))


def _inside(centers: Array, radii: Array) -> Array:
    """The nearest centers with which circles are within the plane."""
    margin = radii[:, None] + GAP
    return np.clip(centers, margin, np.array([1, HEIGHT]) - margin)


def _towards(wanted: Array, centers: Array) -> Array:
    """A step that lessens the squared errors of all distances, (n, 2)."""
    between, lengths = _between(centers / STRETCH)
    return np.asarray(STRETCH * np.einsum("ij,ijk->ik", wanted / lengths - 1, between) / len(centers))


def _apart(centers: Array, radii: Array) -> Array:
    """Steps that take each two circles apart, (n, 2)."""
    between, lengths = _between(centers)
    missing = np.maximum(radii[:, None] + radii + GAP - lengths, 0)
    return np.asarray(np.einsum("ij,ijk->ik", missing / lengths, between))


def _part(centers: Array, radii: Array) -> Circles:
    """Push circles apart until none touches another; where there is no room for that, they shrink."""
    for _ in range(LAST_ROUNDS):
        step = _apart(centers, radii)
        # Half of the gap is left then at least.
        if np.abs(step).max() < GAP / 2:
            break
        centers = _inside(centers + PUSH * step, radii)
    _, lengths = _between(centers)
    room = lengths / (radii[:, None] + radii)
    return Circles(centers, radii * min(1.0, float(room.min())))


def _between(centers: Array) -> tuple[Array, Array]:
    """Vectors between all centers, (n, n, 2), and their lengths, (n, n), infinite from each one to itself."""
    # Equal centers get a direction too, each its own.
    angles = _GOLDEN_ANGLE * np.arange(len(centers))
    moved = centers + 1e-6 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    between = moved[:, None] - moved
    lengths = np.sqrt((between**2).sum(axis=2))
    np.fill_diagonal(lengths, np.inf)
    return between, lengths
