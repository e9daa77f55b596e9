"""Draw a random landscape image with the true segment of every pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter
from sklearn.utils import check_random_state

from mixsearch._typing import Array
from mixsearch.datasets.random import RandomState

_SEEDS = {"sky": (0.3, 0.2), "meadow": (0.15, 0.7), "lake": (0.62, 0.74)}
_PALE, _BLUE, _CLOUD = (0.78, 0.86, 0.93), (0.36, 0.58, 0.83), (0.96, 0.96, 0.97)
_GRASS, _WATER = (0.36, 0.47, 0.2), (0.5, 0.66, 0.8)


@dataclass(frozen=True, slots=True)
class LandscapeData:
    """An image and its true segments.

    Attributes
    ----------
    image : array of uint8 of shape (h, w, 3)
        The image in RGB.
    segments : array of shape (h, w)
        The index of each pixel's segment, from 0.
    names : tuple of str
        The names of the segments.
    seeds : dict of str to (x, y)
        A pixel well inside each segment.
    """

    image: Array
    segments: Array
    names: tuple[str, ...]
    seeds: dict[str, tuple[int, int]]


def make_landscape(height: int = 240, width: int = 360, *, random_state: RandomState = None) -> LandscapeData:
    """Draw a sky with clouds, a meadow, and a lake with the colors of the sky.

    Parameters
    ----------
    height : int
        The number of rows.
    width : int
        The number of columns.
    random_state : int, RandomState instance or None
        The seed of clouds, grass and waves.

    Returns
    -------
    LandscapeData

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
    clouds = np.clip(1.2 * _make_waves(rng, y.shape, (0.03 * side, 0.07 * side)) - 0.3, 0, 1)[..., None]
    sky = _blend(_blend(_BLUE, _PALE, (y / 0.45)[..., None]), _CLOUD, clouds)
    grass = _shade(_GRASS, 0.07 * _make_waves(rng, y.shape, (0.004 * side, 0.002 * side)) - 0.1 * (y - 0.5))
    water = _shade(_WATER, 0.02 * _make_waves(rng, y.shape, (0.004 * side, 0.03 * side)))
    layers = np.stack([sky, grass, water])
    drawn = np.take_along_axis(layers, segments[None, ..., None], axis=0)[0]
    drawn += 0.01 * rng.standard_normal(drawn.shape)
    seeds = {name: (int(x * width), int(y * height)) for name, (x, y) in _SEEDS.items()}
    return LandscapeData(np.round(255 * np.clip(drawn, 0, 1)).astype(np.uint8), segments, tuple(_SEEDS), seeds)


def _make_waves(rng: Any, shape: tuple[int, ...], widths: tuple[float, float]) -> Array:
    """Return smooth noise with standard deviation 1."""
    noise = gaussian_filter(rng.standard_normal(shape), widths, mode="reflect")
    return np.asarray(noise / noise.std())


def _blend(first: ArrayLike, second: ArrayLike, share: Array) -> Array:
    """Mix two colors by the share of the second."""
    return np.asarray(np.asarray(first) + np.clip(share, 0, 1) * (np.asarray(second) - np.asarray(first)))


def _shade(color: ArrayLike, light: Array) -> Array:
    return np.asarray(np.asarray(color) + light[..., None])
