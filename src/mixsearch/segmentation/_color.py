"""Convert RGB to CIELAB, where the distance of two colors is about how different they look."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array

# sRGB (IEC 61966-2-1) to XYZ relative to the white point D65.
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]],
    dtype=np.float32,
) / np.array([[0.95047], [1.0], [1.08883]], dtype=np.float32)
_LINEAR_BELOW = np.float32(0.04045)
_ROOT_BELOW = np.float32((6 / 29) ** 3)


def convert_to_lab(rgb: Array) -> Array:
    """Convert sRGB from 0 to 1, (..., 3), to CIELAB, (..., 3) of float32.

    Examples
    --------
    >>> convert_to_lab(np.array([1.0, 1.0, 1.0])).round(1) + 0
    array([100.,   0.,   0.], dtype=float32)
    """
    x = np.asarray(rgb, dtype=np.float32)
    linear = np.where(x > _LINEAR_BELOW, ((x + np.float32(0.055)) / np.float32(1.055)) ** np.float32(2.4), x / 12.92)
    xyz = linear.astype(np.float32) @ _TO_XYZ.T
    root = np.where(xyz > _ROOT_BELOW, np.cbrt(xyz), xyz * np.float32(841 / 108) + np.float32(4 / 29))
    X, Y, Z = root[..., 0], root[..., 1], root[..., 2]
    return np.stack([116 * Y - 16, 500 * (X - Y), 200 * (Y - Z)], axis=-1).astype(np.float32)
