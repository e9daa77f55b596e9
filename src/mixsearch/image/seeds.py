"""Seeds: pixels and strokes of each segment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain, pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mixsearch.errors import HintError, Option
from mixsearch.image.reading import RasterImage

Pixel = tuple[int, int]
# No image is wider or higher: a longer stroke is a slip.
MAX_SPAN = 1_000_000
_TYPED_PIXEL = re.compile(r"(-?\d{1,9}),(-?\d{1,9})")


class Seeds(NamedTuple):
    """The names of the segments and their known pixels."""

    names: tuple[str, ...]
    pixels: tuple[tuple[Pixel, ...], ...]  # of each segment


def parse_seeds(typed: Iterable[str]) -> dict[str, list[Pixel]]:
    """Parse seeds written as text.

    Parameters
    ----------
    typed : iterable of str
        One text per segment: pixels x,y joined by a plus or a space, optionally after a name and = or :. A stroke joins
        its points by ~.

    Returns
    -------
    dict of str to list of (x, y)
        The pixels of each segment by its name. Segments without a name are numbered.

    Examples
    --------
    >>> parse_seeds(["120,80+140,90", "sea=300,200"])
    {'segment 1': [(120, 80), (140, 90)], 'sea': [(300, 200)]}
    >>> parse_seeds(["sky=10,10~12,10"])
    {'sky': [(10, 10), (11, 10), (12, 10)]}
    """
    seeds: dict[str, list[Pixel]] = {}
    for index, text in enumerate(typed, 1):
        end = max(text.rfind("="), text.rfind(":"))
        name = text[: max(end, 0)].strip() or f"segment {index}"
        # A plus or a space joins pixels, as a URL turns the one into the other; spaces around a comma do not.
        shapes = ",".join(part.strip() for part in text[end + 1 :].split(",")).replace("+", " ").split()
        pixels = [_parse_shape(shape) for shape in shapes]
        if not pixels or not all(pixels):
            raise HintError(
                "{text!r} isn't a seed. Write 120,80 or 120,80+140,90 or sky=120,80, or 120,80~140,90 for a stroke.",
                code="bad_seed",
                text=text,
            )
        if name in seeds:
            raise HintError(
                "Two segments are called {name!r}. Join the pixels of one segment with a plus.",
                code="duplicate_segment",
                name=name,
            )
        seeds[name] = list(chain.from_iterable(pixels))
    return seeds


def _parse_shape(typed: str) -> list[Pixel]:
    """Return the pixels of a pixel x,y or a stroke x,y~x,y; none if it is something else."""
    matches = [_TYPED_PIXEL.fullmatch(each) for each in typed.split("~")]
    points = [(int(each[1]), int(each[2])) for each in matches if each]
    if len(points) < len(matches) or max(max(side) - min(side) for side in zip(*points, strict=True)) > MAX_SPAN:
        return []
    pixels = points[:1]
    for one, other in pairwise(points):
        n = max(abs(other[0] - one[0]), abs(other[1] - one[1]))
        pixels += [(int(x), int(y)) for x, y in np.rint(np.linspace(one, other, n + 1)[1:])]
    return pixels


def check_seeds(seeds: Any, image: RasterImage) -> Seeds:
    """Check that seeds lie in the image, are visible and belong to one segment each."""
    if isinstance(seeds, Mapping):
        names, given = tuple(map(str, seeds)), list(seeds.values())
    else:
        given = list(seeds) if np.iterable(seeds) else [seeds]
        names = tuple(f"segment {i}" for i in range(1, len(given) + 1))
    if not given:
        raise HintError("No seeds given. Give a pixel (x, y) of each segment.", code="no_seeds")
    checked = Seeds(names, tuple(_check_pixels(entry) for entry in given))
    _check_inside(checked, image)
    owners: dict[Pixel, str] = {}
    for name, pixel in ((name, pixel) for name, pixels in zip(*checked, strict=True) for pixel in pixels):
        if owners.setdefault(pixel, name) != name:
            raise HintError(
                "The pixel {x},{y} is a seed of both {first!r} and {second!r}. Move one of them.",
                code="seed_shared",
                x=pixel[0],
                y=pixel[1],
                first=owners[pixel],
                second=name,
            )
    return checked


def check_not_seeds(not_seeds: Mapping[str, ArrayLike], seeds: Seeds, image: RasterImage) -> Seeds:
    """Check that pixels that do not belong to segments lie in the image."""
    for name in not_seeds:
        if name not in seeds.names:
            raise HintError(
                "{argument} has pixels for {name!r}, but the segments are {known}.",
                code="unknown_segment",
                argument=Option("not_seeds"),
                name=name,
                known=", ".join(seeds.names),
            )
    checked = Seeds(
        seeds.names, tuple(_check_pixels(not_seeds[name]) if name in not_seeds else () for name in seeds.names)
    )
    _check_inside(checked, image)
    return checked


def _check_pixels(entry: Any) -> tuple[Pixel, ...]:
    several = np.ndim(entry) == 2 if isinstance(entry, np.ndarray) else not _is_pixel(entry)
    pixels = tuple(entry) if several and isinstance(entry, Iterable) else (entry,)
    if not pixels or not all(_is_pixel(pixel) for pixel in pixels):
        raise HintError(
            "A seed must be a pixel (x, y) or a list of pixels, got {value!r}.", code="bad_seed", value=entry
        )
    return tuple((int(x), int(y)) for x, y in pixels)


def _is_pixel(entry: Any) -> bool:
    try:
        x, y = entry
    except (TypeError, ValueError):
        return False
    return all(isinstance(each, Real) and np.isfinite(float(each)) for each in (x, y))


def _check_inside(seeds: Seeds, image: RasterImage) -> None:
    for x, y in (pixel for pixels in seeds.pixels for pixel in pixels):
        if not (0 <= x < image.width and 0 <= y < image.height):
            raise HintError(
                "The seed {x},{y} lies outside the image of {width} x {height} pixels. Pixels count from 0,0 at the "
                "top left to {max_x},{max_y} at the bottom right.",
                code="seed_outside",
                x=x,
                y=y,
                width=image.width,
                height=image.height,
                max_x=image.width - 1,
                max_y=image.height - 1,
            )
        if image.visible is not None and not image.visible[y, x]:
            raise HintError(
                "The seed {x},{y} is on a transparent pixel. Choose a visible one.", code="seed_transparent", x=x, y=y
            )
