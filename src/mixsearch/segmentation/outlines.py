"""Trace the outlines of segments along the edges of pixels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.ndimage import label

from mixsearch._typing import Array

EAST, SOUTH, WEST, NORTH = range(4)


class Outline(NamedTuple):
    """The outline of one connected piece of a segment.

    Attributes
    ----------
    exterior : array of int of shape (n, 2)
        The corners (x, y) of its outer ring, without a repetition of the first. The corner 0, 0 is the upper left one
        of the first pixel.
    holes : tuple of arrays of int of shape (m, 2)
        The rings within it that do not belong to it, in the opposite direction.
    """

    exterior: Array
    holes: tuple[Array, ...]


class _Edges(NamedTuple):
    """Sides of pixels that separate segments, with the pixel to the right of each, in the order of their keys."""

    starts: Array  # (n,): grid points, row by row
    directions: Array  # (n,): EAST and so on
    pieces: Array  # (n,): the connected piece of the pixel


def trace_outlines(labels: Array, n_segments: int) -> list[list[Outline]]:
    """Return the outlines of the pieces of each segment.

    Notes
    -----
    Pieces are connected through sides of pixels, not through their corners. Where two pixels of one piece meet at a
    corner, the outline joins them there: its rings then touch themselves nowhere, and each other at single points.
    """
    pieces, owners = _number_pieces(labels, n_segments)
    edges, width = _find_edges(labels, pieces), labels.shape[1] + 1
    junctions = _find_junctions(labels)
    rings = [(piece, _drop_straight(edges, path, junctions)) for piece, path in _follow(edges, width)]
    return _collect(rings, owners, n_segments, width)


def _number_pieces(labels: Array, n_segments: int) -> tuple[Array, Array]:
    """Return the number of each pixel's piece, from 1, and the segment of each piece; 0 is no segment."""
    pieces, owners = np.zeros(labels.shape, dtype=np.int32), [np.array([-1])]
    n_pieces = 0
    for i in range(n_segments):
        inside = labels == i
        numbered, n = label(inside)
        pieces[inside] = numbered[inside] + n_pieces
        owners.append(np.full(n, i))
        n_pieces += n
    return pieces, np.concatenate(owners)


def _find_edges(labels: Array, pieces: Array) -> _Edges:
    padded, width = np.pad(labels, 1, constant_values=-1), labels.shape[1] + 1
    inside = padded[1:-1, 1:-1]
    # The neighbor across each side of a pixel, and the grid point at which this side starts if the pixel is to its
    # right: outlines run clockwise as seen on a screen.
    sides = {
        EAST: (padded[:-2, 1:-1], 0),
        SOUTH: (padded[1:-1, 2:], 1),
        WEST: (padded[2:, 1:-1], width + 1),
        NORTH: (padded[1:-1, :-2], width),
    }
    starts, directions, owners = [], [], []
    for direction, (neighbor, offset) in sides.items():
        y, x = np.nonzero((inside >= 0) & (inside != neighbor))
        starts.append(y * width + x + offset)
        directions.append(np.full(len(y), direction))
        owners.append(pieces[y, x])
    edges = _Edges(np.concatenate(starts), np.concatenate(directions), np.concatenate(owners))
    order = np.argsort(_make_keys(edges.starts, edges.directions))
    return _Edges(*(part[order] for part in edges))


def _make_keys(starts: Array, directions: Array) -> Array:
    return starts * 4 + directions


def _find_junctions(labels: Array) -> Array:
    """Return which grid points every outline through them must keep: where borders meet, and the image's corners."""
    padded = np.pad(labels, 1, constant_values=-1)
    across = padded[1:] != padded[:-1]  # horizontal sides
    down = padded[:, 1:] != padded[:, :-1]
    counts = across[:, 1:].astype(np.int8) + across[:, :-1] + down[1:] + down[:-1]
    junctions = counts > 2
    junctions[[0, 0, -1, -1], [0, -1, 0, -1]] = True
    return np.asarray(junctions.ravel())


def _follow(edges: _Edges, width: int) -> list[tuple[int, Array]]:
    """Return the piece of each ring, and its edges in their order."""
    following = _find_following(edges, width).tolist()
    visited, rings = [False] * len(following), []
    for first in range(len(following)):
        ring, edge = [], first
        while not visited[edge]:
            visited[edge] = True
            ring.append(edge)
            edge = following[edge]
        if ring:
            rings.append((int(edges.pieces[first]), np.array(ring)))
    return rings


def _find_following(edges: _Edges, width: int) -> Array:
    """Return the edge after each: to the left if there is one, since corners of one piece are joined."""
    keys = _make_keys(edges.starts, edges.directions)
    ends = edges.starts + np.array([1, width, -1, -width])[edges.directions]
    following = np.full(len(keys), -1)
    for turn in (1, 0, -1):  # the last one found, to the left, replaces the others
        wanted = _make_keys(ends, (edges.directions + turn) % 4)
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        fits = (keys[found] == wanted) & (edges.pieces[found] == edges.pieces)
        following[fits] = found[fits]
    return following


def _drop_straight(edges: _Edges, path: Array, junctions: Array) -> Array:
    """Return the grid points of a ring at which it turns or others meet it."""
    directions, starts = edges.directions[path], edges.starts[path]
    return np.asarray(starts[(directions != np.roll(directions, 1)) | junctions[starts]])


def _collect(rings: list[tuple[int, Array]], owners: Array, n_segments: int, width: int) -> list[list[Outline]]:
    """Sort the rings of each piece into its exterior, which runs clockwise on a screen, and its holes."""
    exteriors: dict[int, Array] = {}
    holes: dict[int, list[Array]] = {}
    for piece, ring in rings:
        corners = np.stack([ring % width, ring // width], axis=1)
        if _signed_area(corners) > 0:
            exteriors[piece] = corners
        else:
            holes.setdefault(piece, []).append(corners)
    found: list[list[Outline]] = [[] for _ in range(n_segments)]
    for piece, exterior in exteriors.items():
        found[int(owners[piece])].append(Outline(exterior, tuple(holes.get(piece, ()))))
    return found


def _signed_area(corners: Array) -> float:
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


def make_path(outlines: Iterable[Outline]) -> str:
    """Return all rings of some outlines as the data of one SVG path, to be filled by the even-odd rule."""
    return "".join(_write_ring(ring) for outline in outlines for ring in (outline.exterior, *outline.holes))


def _write_ring(ring: Array) -> str:
    points = ring.tolist()
    steps = [f"M{points[0][0]} {points[0][1]}"]
    for (x, y), (next_x, next_y) in pairwise(points):
        if y == next_y:
            steps.append(f"H{next_x}")
        elif x == next_x:
            steps.append(f"V{next_y}")
        else:
            steps.append(f"L{next_x} {next_y}")
    return "".join([*steps, "Z"])
