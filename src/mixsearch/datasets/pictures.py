"""A landscape drawn at random, with the truth of every pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.utils import check_random_state

from mixsearch._typing import Array

NAMES = ("sky", "meadow", "lake")
_PALE, _BLUE, _CLOUD = (0.78, 0.86, 0.93), (0.36, 0.58, 0.83), (0.96, 0.96, 0.97)
_GRASS, _WATER = (0.36, 0.47, 0.2), (0.5, 0.66, 0.8)


@dataclass(frozen=True, slots=True)
class LandscapeData:
    """A picture and its segments."""

    image: Array  # (h, w, 3) of uint8
    segments: Array  # (h, w), from 0
    names: tuple[str, ...]
    seeds: dict[str, tuple[int, int]]  # a pixel (x, y) well inside of each segment


def make_landscape(height: int = 240, width: int = 360, *, random_state: Any = None) -> LandscapeData:
    """Draw a sky with clouds, a meadow, and a lake that has the colours of the sky.

    Parameters
    ----------
    height, width : int
        Of the picture, in pixels.
    random_state : int, RandomState instance or None
        Of clouds, grass and waves.

    Examples
    --------
    >>> data = make_landscape(60, 90, random_state=0)
    >>> data.image.shape, data.names
    ((60, 90, 3), ('sky', 'meadow', 'lake'))
    """
    rng = check_random_state(random_state)
    y, x = np.mgrid[:height, :width] / np.array([height, width]).reshape(2, 1, 1)
    hills = 0.42 + 0.04 * np.sin(7 * x + 1) + 0.02 * np.sin(17 * x)
    is_lake = ((x - 0.62) / 0.27) ** 2 + ((y - 0.74) / 0.13) ** 2 < 1
    segments = np.where(is_lake, 2, np.where(y > hills, 1, 0))
    side = np.sqrt(height * width)
    clouds = np.clip(1.2 * _waves(rng, y.shape, (0.03 * side, 0.07 * side)) - 0.3, 0, 1)[..., None]
    sky = _between(_between(_BLUE, _PALE, (y / 0.45)[..., None]), _CLOUD, clouds)
    grass = _shaded(_GRASS, 0.07 * _waves(rng, y.shape, (0.004 * side, 0.002 * side)) - 0.1 * (y - 0.5))
    water = _shaded(_WATER, 0.02 * _waves(rng, y.shape, (0.004 * side, 0.03 * side)))
    layers = np.stack([sky, grass, water])
    drawn = np.take_along_axis(layers, segments[None, ..., None], axis=0)[0]
    drawn += 0.01 * rng.standard_normal(drawn.shape)
    seeds = dict(zip(NAMES, _places(height, width), strict=True))
    return LandscapeData(np.round(255 * np.clip(drawn, 0, 1)).astype(np.uint8), segments, NAMES, seeds)


def _places(height: int, width: int) -> list[tuple[int, int]]:
    return [(int(x * width), int(y * height)) for x, y in ((0.3, 0.2), (0.15, 0.7), (0.62, 0.74))]


def _waves(rng: Any, shape: tuple[int, ...], widths: tuple[float, float]) -> Array:
    """Noise that is smooth over so many pixels down and across, of deviation 1."""
    noise = gaussian_filter(rng.standard_normal(shape), widths, mode="reflect")
    return np.asarray(noise / noise.std())


def _between(one: Any, other: Any, share: Array) -> Array:
    """A part of the way from one colour to another."""
    return np.asarray(np.asarray(one) + np.clip(share, 0, 1) * (np.asarray(other) - np.asarray(one)))


def _shaded(colour: Any, light: Array) -> Array:
    return np.asarray(np.asarray(colour) + light[..., None])
