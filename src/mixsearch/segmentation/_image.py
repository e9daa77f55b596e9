"""The pixels of an image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixsearch._typing import Array

_RGB, _BYTE = 3, 255
_ROWS_PER_CHUNK = 256


@dataclass(frozen=True, eq=False)
class RasterImage:
    """The pixels of an image, in the type they came in, and which of them are visible.

    Attributes
    ----------
    pixels : array of shape (h, w, 1) or (h, w, 3)
        Gray levels or RGB, of uint8, uint16 or float32.
    white : float
        The value of white.
    visible : array of bool of shape (h, w), or None
        Which pixels are not transparent. None if all are visible.
    """

    pixels: Array
    white: float
    visible: Array | None

    @property
    def height(self) -> int:
        """The number of rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.pixels.shape[1])

    def rows(self, rows: slice) -> Array:
        """Return some rows as RGB from 0 to 1.

        Parameters
        ----------
        rows : slice
            Which rows.

        Returns
        -------
        array of float32 of shape (r, w, 3)
        """
        chunk = self.pixels[rows].astype(np.float32)
        chunk /= np.float32(self.white)
        return np.ascontiguousarray(np.broadcast_to(chunk, (*chunk.shape[:2], _RGB)))

    def to_uint8(self) -> Array:
        """Return the whole image as RGB from 0 to 255.

        Returns
        -------
        array of uint8 of shape (h, w, 3)
        """
        if self.pixels.dtype == np.uint8 and self.white == _BYTE:
            return np.ascontiguousarray(np.broadcast_to(self.pixels, (self.height, self.width, _RGB)))
        rgb = np.empty((self.height, self.width, _RGB), dtype=np.uint8)
        for start in range(0, self.height, _ROWS_PER_CHUNK):
            rows = slice(start, start + _ROWS_PER_CHUNK)
            rgb[rows] = 255 * self.rows(rows) + 0.5
        return rgb

    def subsample(self, step: int) -> RasterImage:
        """Keep one pixel of each square of `step` pixels a side, the middle one.

        Parameters
        ----------
        step : int
            The side of the squares.

        Returns
        -------
        RasterImage
        """
        kept = subsample_slice(self.height, step), subsample_slice(self.width, step)
        return RasterImage(self.pixels[kept], self.white, None if self.visible is None else self.visible[kept])

    def downscale(self, factor: int) -> RasterImage:
        """Average squares of `factor` pixels a side; those at the right and lower edge may be smaller.

        Parameters
        ----------
        factor : int
            The side of the squares.

        Returns
        -------
        RasterImage
            A pixel is visible if any pixel of its square is.
        """
        if factor == 1:
            return self
        visible = None if self.visible is None else _average(self.visible[..., None], factor)[..., 0] > 0
        return RasterImage(_average(self.pixels, factor) / np.float32(self.white), 1.0, visible)


def subsample_slice(n: int, step: int) -> slice:
    """Return a slice of n positions with the given step and at least one position, from the middle of the first."""
    return slice(min(step // 2, n - 1), n, step)


def _average(array: Array, factor: int) -> Array:
    for axis in (0, 1):
        starts = np.arange(0, array.shape[axis], factor)
        sizes = np.diff(np.append(starts, array.shape[axis])).astype(np.float32)
        array = np.add.reduceat(array, starts, axis=axis, dtype=np.float32)
        array /= sizes.reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
    return array
