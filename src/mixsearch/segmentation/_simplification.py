"""Choose fewer corners for outlines, so that borders stay close to the exact ones, shared and free of crossings."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from mixsearch._typing import Array

# The side of the squares by which corners are found, in pixels.
CELL = 16


def choose_vertices(rings: Sequence[Array], junctions: Array, width: int, tolerance: float) -> Array:
    """Return which grid points to keep, an array of bool with one entry for each.

    Parameters
    ----------
    rings : sequence of arrays of int
        The corners of each ring, as indices of grid points.
    junctions : array of bool
        Grid points that are kept in any case: where borders meet.
    width : int
        Grid points in a row.
    tolerance : float
        How far the exact border may be from the simplified one, in pixels.

    Notes
    -----
    A border runs between two junctions, once for the segments on both of its sides. Its corners go one by one, the
    one closest to the line that replaces it first. The line sweeps a triangle; if no other corner lies in it, no border
    can cross the line (de Berg, van Kreveld and Schirra, 1998).
    """
    kept = junctions.copy()
    kept[_Borders(list(_split_borders(rings, junctions)), width).simplify(tolerance)] = True
    return kept


def _split_borders(rings: Iterable[Array], junctions: Array) -> Iterator[Array]:
    """Yield each border once; one without a junction starts and ends at its first grid point."""
    known = set()
    for ring in rings:
        fixed = np.flatnonzero(junctions[ring])
        if not len(fixed):
            fixed = np.array([int(ring.argmin())])
        closed = np.append(np.roll(ring, -fixed[0]), ring[fixed[0]])
        stops = np.append(fixed - fixed[0], len(ring))
        for start, stop in pairwise(stops.tolist()):
            border = closed[start : stop + 1]
            backward = border[::-1]
            if (backward[0], backward[1]) < (border[0], border[1]):
                border = backward
            # The first two points say where a border starts and in which direction.
            if (key := (int(border[0]), int(border[1]))) not in known:
                known.add(key)
                yield border


class _Borders:
    """All borders as one list of nodes; each border begins and ends with a node that stays."""

    def __init__(self, borders: Sequence[Array], width: int) -> None:
        points = np.concatenate(borders)
        lengths = np.array([len(border) for border in borders])
        ends = np.cumsum(lengths)
        self._width = width
        self._is_fixed = np.zeros(len(points), dtype=bool)
        self._is_fixed[ends - 1] = self._is_fixed[ends - lengths] = True
        # Lists, since single entries of them are read much faster than those of arrays.
        self._points: list[int] = points.tolist()
        self._x: list[int] = (points % width).tolist()
        self._y: list[int] = (points // width).tolist()
        self._left, self._right = list(range(-1, len(points) - 1)), list(range(1, len(points) + 1))
        last = set(ends.tolist())
        self._links = {self._link(i - 1, i) for i in range(1, len(points)) if i not in last}
        self._cells: dict[tuple[int, int], set[int]] = {}
        for point in self._points:
            self._cell(point).add(point)

    def simplify(self, tolerance: float) -> list[int]:
        """Remove nodes and return the grid points that are left."""
        costs = {i: self._cost(i) for i in np.flatnonzero(~self._is_fixed).tolist()}
        heap = [(cost, i) for i, cost in costs.items() if cost <= tolerance**2]
        heapq.heapify(heap)
        while heap:
            cost, i = heapq.heappop(heap)
            if costs.get(i) != cost or not self._can_remove(i):
                continue
            del costs[i]
            for neighbor in self._remove(i):
                if neighbor in costs:
                    costs[neighbor] = self._cost(neighbor)
                    if costs[neighbor] <= tolerance**2:
                        heapq.heappush(heap, (costs[neighbor], neighbor))
        return [self._points[i] for i in (*np.flatnonzero(self._is_fixed).tolist(), *costs)]

    def _link(self, one: int, other: int) -> tuple[int, int]:
        first, second = self._points[one], self._points[other]
        return (first, second) if first < second else (second, first)

    def _cell(self, point: int) -> set[int]:
        return self._cells.setdefault((point % self._width // CELL, point // self._width // CELL), set())

    def _cost(self, i: int) -> float:
        """Return the squared distance of the exact border between a node's neighbors from the line between them."""
        one, other = self._left[i], self._right[i]
        x, y = self._x[one], self._y[one]
        along_x, along_y = self._x[other] - x, self._y[other] - y
        squared = along_x**2 + along_y**2 or 1
        farthest = 0.0
        for node in range(one + 1, other):
            off_x, off_y = self._x[node] - x, self._y[node] - y
            share = min(max((off_x * along_x + off_y * along_y) / squared, 0.0), 1.0)
            farthest = max(farthest, (off_x - share * along_x) ** 2 + (off_y - share * along_y) ** 2)
        return farthest

    def _can_remove(self, i: int) -> bool:
        one, other = self._left[i], self._right[i]
        if self._points[one] == self._points[other] or self._link(one, other) in self._links:
            return False
        nodes = (one, i, other)
        corners = [(self._x[node], self._y[node]) for node in nodes]
        own = {self._points[node] for node in nodes}
        return not any(_is_within(corners, point) for point in self._find_near(corners, own))

    def _find_near(self, corners: list[tuple[int, int]], own: set[int]) -> Iterator[tuple[int, int]]:
        """Yield the grid points that are left in the bounding box of a triangle, but for its own corners."""
        (left, right), (top, bottom) = ((min(side), max(side)) for side in zip(*corners, strict=True))
        for column in range(left // CELL, right // CELL + 1):
            for row in range(top // CELL, bottom // CELL + 1):
                for point in self._cells.get((column, row), ()):
                    y, x = divmod(point, self._width)
                    if left <= x <= right and top <= y <= bottom and point not in own:
                        yield x, y

    def _remove(self, i: int) -> tuple[int, int]:
        """Remove a node and return its neighbors."""
        one, other = self._left[i], self._right[i]
        self._links -= {self._link(one, i), self._link(i, other)}
        self._links.add(self._link(one, other))
        self._right[one], self._left[other] = other, one
        self._cell(self._points[i]).discard(self._points[i])
        return one, other


def _is_within(corners: list[tuple[int, int]], point: tuple[int, int]) -> bool:
    """Return whether a point of the bounding box of a triangle lies in it or on its sides."""
    turns = []
    for (x, y), (next_x, next_y) in zip(corners, [*corners[1:], corners[0]], strict=True):
        turns.append((next_x - x) * (point[1] - y) - (next_y - y) * (point[0] - x))
    return min(turns) >= 0 or max(turns) <= 0
