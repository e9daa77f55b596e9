"""The pixels of strokes and boxes, as seeds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

# A box has at most this many pixels a side as seeds: every superpixel in it gets some.
MAX_BOX_SIDE = 32


def stroke(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pixels along straight lines from each point to the next.

    Parameters
    ----------
    points : sequence of (x, y)
        At least one.

    Returns
    -------
    list of (x, y)

    Examples
    --------
    >>> stroke([(0, 0), (3, 1), (3, 3)])
    [(0, 0), (1, 0), (2, 1), (3, 1), (3, 2), (3, 3)]
    """
    pixels = [(int(points[0][0]), int(points[0][1]))]
    for one, other in pairwise(points):
        n = max(abs(int(other[0]) - int(one[0])), abs(int(other[1]) - int(one[1])))
        steps = np.rint(np.linspace(one, other, n + 1)[1:]).astype(int)
        pixels += [(int(x), int(y)) for x, y in steps]
    return pixels


def box(corner: tuple[int, int], opposite: tuple[int, int]) -> list[tuple[int, int]]:
    """Return pixels of a rectangle, its corners included: all of them, or a grid of 32 x 32.

    Parameters
    ----------
    corner, opposite : (x, y)
        Two opposite corners.

    Returns
    -------
    list of (x, y)

    Examples
    --------
    >>> box((2, 1), (3, 2))
    [(2, 1), (3, 1), (2, 2), (3, 2)]
    """
    (left, right), (top, bottom) = (sorted(map(int, side)) for side in zip(corner, opposite, strict=True))
    columns, rows = (
        np.unique(np.linspace(low, high, min(high - low + 1, MAX_BOX_SIDE)).astype(int))
        for low, high in ((left, right), (top, bottom))
    )
    return [(int(x), int(y)) for y in rows for x in columns]
