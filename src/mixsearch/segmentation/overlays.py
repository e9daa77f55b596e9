"""Segments laid over their picture: a tint, a line where they meet, a cross on each seed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mixsearch.segmentation.images import Picture
from mixsearch.segmentation.seeds import Pixel
from mixsearch.types import Array

# Of Okabe and Ito, which colour-blind readers can tell apart.
PALETTE = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (213, 94, 0),
    (86, 180, 233),
    (204, 121, 167),
    (240, 228, 66),
)
_ROWS = 256  # that are tinted at a time
_LINE, _CROSS, _RIM = (255, 255, 255), (230, 0, 30), (255, 255, 255)
_CROSS_PART = 90  # of the longer side of a picture, an arm of a cross is one


def colours_of(n_segments: int) -> Array:
    """A colour for each segment, (k, 3) of uint8; darker ones where the palette begins anew."""
    numbers = np.arange(n_segments)
    shade = 0.65 ** (numbers // len(PALETTE))
    return np.asarray(np.array(PALETTE)[numbers % len(PALETTE)] * shade[:, None], dtype=np.uint8)


def draw_overlay(picture: Picture, labels: Array, seeds: Iterable[Pixel], n_segments: int, opacity: float) -> Array:
    """The picture with its segments tinted, (h, w, 3) of uint8. A pixel without a segment keeps its colour."""
    tints = np.vstack([colours_of(n_segments), np.zeros((1, 3), dtype=np.uint8)])  # the last one answers to -1
    strength = np.append(np.full(n_segments, opacity, dtype=np.float32), np.float32(0))
    drawn = np.empty((*labels.shape, 3), dtype=np.uint8)
    for start in range(0, len(labels), _ROWS):
        rows = slice(start, start + _ROWS)
        colours, tint, much = 255 * picture.rows(rows), tints[labels[rows]], strength[labels[rows]][..., None]
        drawn[rows] = colours + much * (tint - colours) + 0.5
    drawn[borders(labels)] = _LINE
    _draw_crosses(drawn, seeds)
    return drawn


def borders(labels: Array) -> Array:
    """Where a pixel has another label than its right or lower neighbour, (h, w) of bool."""
    found = np.zeros(labels.shape, dtype=bool)
    found[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    found[:-1] |= labels[:-1] != labels[1:]
    return found


def _draw_crosses(drawn: Array, pixels: Iterable[Pixel]) -> None:
    arm = max(max(drawn.shape[:2]) // _CROSS_PART, 2)
    thick = max(arm // 4, 0)
    for x, y in pixels:
        for grown, colour in ((1 + thick // 2, _RIM), (0, _CROSS)):
            _fill(drawn, x, y, arm + grown, thick + grown, colour)
            _fill(drawn, x, y, thick + grown, arm + grown, colour)


def _fill(drawn: Array, x: int, y: int, half_width: int, half_height: int, colour: tuple[int, int, int]) -> None:
    drawn[max(y - half_height, 0) : y + half_height + 1, max(x - half_width, 0) : x + half_width + 1] = colour
