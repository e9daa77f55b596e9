"""Draw segments over their image: a tint, a line along their borders, a cross on each seed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.ndimage import binary_dilation, binary_erosion

from mixsearch._typing import Array
from mixsearch.segmentation._image import RasterImage
from mixsearch.segmentation._seeds import Pixel

# The palette of Okabe and Ito, safe for color-blind readers.
PALETTE = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (213, 94, 0),
    (86, 180, 233),
    (204, 121, 167),
    (240, 228, 66),
)
_ROWS_PER_CHUNK = 256
# The half width of the band in which the edge of a cut-out is soft, relative to the image's side.
SOFT_BAND = 0.003
_LINE, _CROSS, _RIM = (255, 255, 255), (230, 0, 30), (255, 255, 255)
_ARMS_PER_SIDE = 90  # lengths of a cross's arm in the longer side of the image


def make_segment_colors(n_segments: int) -> Array:
    """Return a color for each segment; the palette repeats in darker shades.

    Parameters
    ----------
    n_segments : int
        The number of segments.

    Returns
    -------
    array of uint8 of shape (k, 3)
    """
    indices = np.arange(n_segments)
    shade = 0.65 ** (indices // len(PALETTE))
    return np.asarray(np.array(PALETTE)[indices % len(PALETTE)] * shade[:, None], dtype=np.uint8)


def make_hex_colors(n_segments: int) -> list[str]:
    """Return the color of each segment as #rrggbb."""
    return [f"#{bytes(color).hex()}" for color in make_segment_colors(n_segments)]


def draw_overlay(image: RasterImage, labels: Array, seeds: Iterable[Pixel], n_segments: int, opacity: float) -> Array:
    """Return the image with tinted segments, (h, w, 3) of uint8. Pixels without a segment keep their color."""
    tints = np.vstack([make_segment_colors(n_segments), np.zeros((1, 3), dtype=np.uint8)])  # index -1 finds the last
    opacities = np.append(np.full(n_segments, opacity, dtype=np.float32), np.float32(0))
    drawn = np.empty((*labels.shape, 3), dtype=np.uint8)
    for start in range(0, len(labels), _ROWS_PER_CHUNK):
        rows = slice(start, start + _ROWS_PER_CHUNK)
        colors, tint, alpha = 255 * image.rows(rows), tints[labels[rows]], opacities[labels[rows]][..., None]
        drawn[rows] = colors + alpha * (tint - colors) + 0.5
    drawn[find_borders(labels)] = _LINE
    _draw_crosses(drawn, seeds)
    return drawn


def make_cut_out(image: RasterImage, labels: Array, probabilities: Array, i: int) -> Array:
    """Return the pixels of one segment with an alpha channel, (h, w, 4) of uint8, soft in a band along its border."""
    inside = labels == i
    band = max(round(SOFT_BAND * float(np.sqrt(labels.size))), 1)
    is_soft = binary_dilation(inside, iterations=band) & ~binary_erosion(inside, iterations=band, border_value=1)
    alpha = np.where(is_soft & (labels >= 0), probabilities[..., i], inside)
    return np.dstack([image.to_uint8(), (255 * alpha + 0.5).astype(np.uint8)])


def find_borders(labels: Array) -> Array:
    """Return which pixels differ in label from their right or lower neighbor.

    Parameters
    ----------
    labels : array of shape (h, w)
        The index of each pixel's segment.

    Returns
    -------
    array of bool of shape (h, w)
    """
    found = np.zeros(labels.shape, dtype=bool)
    found[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    found[:-1] |= labels[:-1] != labels[1:]
    return found


def _draw_crosses(drawn: Array, pixels: Iterable[Pixel]) -> None:
    arm = max(max(drawn.shape[:2]) // _ARMS_PER_SIDE, 2)
    thickness = max(arm // 4, 0)
    for x, y in pixels:
        for margin, color in ((1 + thickness // 2, _RIM), (0, _CROSS)):
            _fill(drawn, x, y, arm + margin, thickness + margin, color)
            _fill(drawn, x, y, thickness + margin, arm + margin, color)


def _fill(drawn: Array, x: int, y: int, half_width: int, half_height: int, color: tuple[int, int, int]) -> None:
    drawn[max(y - half_height, 0) : y + half_height + 1, max(x - half_width, 0) : x + half_width + 1] = color
