"""Pixels -> features in which segments are clusters: plain colours, or colours, texture and position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.ndimage import gaussian_filter, minimum_filter

from mixsearch.errors import SearchError
from mixsearch.segmentation.colours import to_lab
from mixsearch.segmentation.images import Picture
from mixsearch.types import Array

# Pixels on which the features of neighbourhoods are computed: a larger picture is shrunk for them.
MOST_WORKING = 160_000
# Widths of neighbourhoods, as parts of the side of a square as large as the picture.
COLOUR_SCALES, TEXTURE_SCALE = (0.005, 0.02), 0.02
# Of the spread of colours and texture.
POSITION_SPREAD = 0.75
# How far from a pixel the middle of a neighbourhood may be that tells its texture, in widths of neighbourhoods.
CALM_AROUND = 0.8
# In units of CIELAB, of which about one can be seen: what varies less has no texture but noise.
LEAST_TEXTURE = 1.0


class PixelFeatures(Protocol):
    """The features of every pixel, as many as are asked for at a time."""

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""

    def at(self, pixels: Array) -> Array:
        """Of the pixels of these flat indices, (n,): (n, f)."""

    def rows(self, rows: slice) -> Array:
        """Of some rows, (r, w, f)."""


@dataclass(frozen=True, eq=False)
class Colours:
    """Red, green and blue of the pixels themselves, as the paper has it."""

    picture: Picture

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.picture.height, self.picture.width

    def at(self, pixels: Array) -> Array:
        """Of some pixels, (n, 3)."""
        part = self.picture.pixels.reshape(-1, self.picture.pixels.shape[2])[pixels].astype(np.float32)
        return np.ascontiguousarray(np.broadcast_to(part / np.float32(self.picture.full), (len(part), 3)))

    def rows(self, rows: slice) -> Array:
        """Of some rows, (r, w, 3)."""
        return self.picture.rows(rows)


@dataclass(frozen=True, eq=False)
class Computed:
    """Features that are in memory."""

    values: Array  # (h, w, f) of float32

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.values.shape[0], self.values.shape[1]

    def at(self, pixels: Array) -> Array:
        """Of some pixels, (n, f)."""
        return np.asarray(self.values.reshape(-1, self.values.shape[2])[pixels])

    def rows(self, rows: slice) -> Array:
        """Of some rows, (r, w, f)."""
        return np.asarray(self.values[rows])


class Described(NamedTuple):
    """A picture in features, which may be shrunk, and which of its pixels can be seen."""

    features: PixelFeatures
    picture: Picture  # of the size of the features
    factor: int  # by which it was shrunk
    is_local: bool  # whether features are of neighbourhoods, so that they blur the edges of segments


def describe(picture: Picture, features: Any) -> Described:
    """The features of a picture.

    Parameters
    ----------
    picture : Picture
    features : str, callable or array of shape (h, w, f)
        The name of features, a function from colours to them, or the features themselves.
    """
    if isinstance(features, str):
        if features == "rgb":
            return Described(Colours(picture), picture, 1, is_local=False)
        if features not in NAMED:
            raise SearchError(f"features must be one of 'rgb', {', '.join(map(repr, NAMED))}; found {features!r}.")
        return _describe_shrunk(picture, NAMED[features])
    if callable(features):
        return _describe_shrunk(picture, lambda small: features(small.rows(slice(None))))
    return Described(Computed(_checked(features, (picture.height, picture.width))), picture, 1, is_local=False)


def _describe_shrunk(picture: Picture, compute: Callable[[Picture], Any]) -> Described:
    factor = int(np.ceil(np.sqrt(picture.width * picture.height / MOST_WORKING)))
    small = picture.shrink(factor)
    return Described(Computed(_checked(compute(small), (small.height, small.width))), small, factor, is_local=True)


def _checked(features: Any, shape: tuple[int, int]) -> Array:
    values = np.asarray(features, dtype=np.float32)
    if values.ndim != 3 or values.shape[:2] != shape:
        raise SearchError(
            f"The features have shape {values.shape}; {shape[0]} rows of {shape[1]} pixels need (h, w, f)."
        )
    n_bad = values.size - np.count_nonzero(np.isfinite(values))
    if n_bad:
        raise SearchError(f"The features hold {n_bad:,} values that are NaN or infinite. Replace them.")
    return values


def rich_features(picture: Picture) -> Array:
    """Colour at two scales, texture and position, each in units of its own spread, (h, w, f) of float32.

    Of f = 11 features a grey picture lacks those of its colours.
    """
    lab, side = to_lab(picture.rows(slice(None))), float(np.sqrt(picture.width * picture.height))
    planes = [_blur(lab[..., i], scale * side) for scale in COLOUR_SCALES for i in range(3)]
    planes += [_texture(lab[..., i], TEXTURE_SCALE * side) for i in range(3)]
    y, x = np.mgrid[: picture.height, : picture.width].astype(np.float32)
    seen = np.ones(x.shape, dtype=bool) if picture.visible is None else picture.visible
    varying = [plane for plane in planes if _varies(plane[seen])]
    if not varying:
        raise SearchError("The picture is the same everywhere, so that nothing tells segments apart.")
    standard = [_standardise(plane, seen) for plane in varying]
    return np.stack([*standard, *(POSITION_SPREAD * _standardise(plane, seen) for plane in (x, y))], axis=-1)


def _blur(plane: Array, width: float) -> Array:
    return np.asarray(gaussian_filter(plane, width, mode="nearest", truncate=3.0))


def _texture(plane: Array, width: float) -> Array:
    """How strongly a colour varies around each pixel, on a logarithmic scale.

    An edge varies as well and is no texture: of the neighbourhoods around a pixel the calmest one counts.
    """
    fine = plane - _blur(plane, width / 2)
    size = 2 * round(CALM_AROUND * width) + 1
    calmest = minimum_filter(np.sqrt(_blur(fine**2, width)), size, mode="nearest")
    return np.asarray(np.log(calmest + LEAST_TEXTURE))


def _varies(values: Array) -> bool:
    """By more than rounding."""
    return bool(values.std(dtype=np.float64) > 1e-4)


def _standardise(plane: Array, seen: Array) -> Array:
    """Mean 0 and deviation 1 over the pixels that can be seen."""
    mean, deviation = plane[seen].mean(dtype=np.float64), plane[seen].std(dtype=np.float64)
    return np.asarray((plane - mean) / max(float(deviation), np.finfo(np.float32).tiny), dtype=np.float32)


NAMED: dict[str, Callable[[Picture], Array]] = {"rich": rich_features}
