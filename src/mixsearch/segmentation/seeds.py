"""Seeds as users give them -> pixels of each segment, checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from mixsearch.errors import HintError
from mixsearch.segmentation.images import Picture
from mixsearch.types import Array

Pixel = tuple[int, int]

_TYPED = re.compile(r"(-?\d{1,9}),(-?\d{1,9})")


class Seeds(NamedTuple):
    """The pixels that are known of each segment, and what the segments are called."""

    names: tuple[str, ...]
    pixels: tuple[tuple[Pixel, ...], ...]  # x to the right, y down, of each segment one or more


def parse_seeds(typed: Iterable[str]) -> dict[str, list[Pixel]]:
    """Seeds as people write them: the pixels of each segment under its name.

    Parameters
    ----------
    typed : iterable of str
        One for each segment: pixels x,y joined by a plus or a space, and before them a name and = or : if it has one.

    Examples
    --------
    >>> parse_seeds(["120,80+140,90", "sea=300,200"])
    {'segment 1': [(120, 80), (140, 90)], 'sea': [(300, 200)]}
    """
    seeds: dict[str, list[Pixel]] = {}
    for number, text in enumerate(typed, 1):
        end = max(text.rfind("="), text.rfind(":"))
        name = text[: max(end, 0)].strip() or f"segment {number}"
        pixels = [_TYPED.fullmatch(pixel) for pixel in _apart(text[end + 1 :])]
        if not pixels or not all(pixels):
            raise HintError(f"{text!r} is no seed. Write 120,80 or 120,80+140,90 or sky=120,80.")
        if name in seeds:
            raise HintError(f"Two segments are called {name!r}. Join pixels of one segment by a plus.")
        seeds[name] = [(int(pixel[1]), int(pixel[2])) for pixel in pixels if pixel]
    return seeds


def _apart(pixels: str) -> list[str]:
    """In an address a plus stands for a space, and people write one after a comma."""
    return ",".join(part.strip() for part in pixels.split(",")).replace("+", " ").split()


def read_seeds(seeds: Any, picture: Picture) -> Seeds:
    """Pixels of each segment, which must lie in the picture, be visible and belong to one segment only.

    Parameters
    ----------
    seeds : list or mapping
        One entry per segment: a pixel (x, y) or a list of such pixels. The keys of a mapping name the segments.
    picture : Picture
    """
    if not isinstance(seeds, Iterable):
        raise HintError(f"seeds must be a list with a pixel (x, y) of each segment; found {seeds!r}.")
    if isinstance(seeds, Mapping):
        names, given = tuple(map(str, seeds)), list(seeds.values())
    else:
        given = list(seeds)
        names = tuple(f"segment {i}" for i in range(1, len(given) + 1))
    if not given:
        raise HintError("No seed was given. Give a pixel (x, y) of each segment, x to the right and y down.")
    found = Seeds(names, tuple(_pixels_of(entry) for entry in given))
    _require_within(found, picture)
    _require_apart(found)
    return found


def _pixels_of(entry: Any) -> tuple[Pixel, ...]:
    several = np.ndim(entry) == 2 if isinstance(entry, np.ndarray) else not _is_pixel(entry)
    pixels = tuple(entry) if several and isinstance(entry, Iterable) else (entry,)
    if not pixels or not all(_is_pixel(pixel) for pixel in pixels):
        raise HintError(f"A seed must be a pixel (x, y) or a list of such pixels; found {entry!r}.")
    return tuple((int(x), int(y)) for x, y in pixels)


def _is_pixel(entry: Any) -> bool:
    try:
        x, y = entry
    except (TypeError, ValueError):
        return False
    return all(isinstance(each, Real) and np.isfinite(float(each)) for each in (x, y))


def _require_within(seeds: Seeds, picture: Picture) -> None:
    for x, y in (pixel for pixels in seeds.pixels for pixel in pixels):
        if not (0 <= x < picture.width and 0 <= y < picture.height):
            raise HintError(
                f"The seed {x},{y} lies outside the picture of {picture.width} x {picture.height} pixels: x goes from "
                f"0 to {picture.width - 1} to the right, y from 0 to {picture.height - 1} down."
            )
        if picture.visible is not None and not picture.visible[y, x]:
            raise HintError(f"The seed {x},{y} is on a transparent pixel, which shows nothing. Choose a visible one.")


def _require_apart(seeds: Seeds) -> None:
    owners: dict[Pixel, str] = {}
    for name, pixels in zip(seeds.names, seeds.pixels, strict=True):
        for pixel in pixels:
            if owners.setdefault(pixel, name) != name:
                raise HintError(
                    f"The pixel {pixel[0]},{pixel[1]} is a seed of both {owners[pixel]!r} and {name!r}. A pixel "
                    "belongs to one segment: move one of them."
                )


def windows(seeds: Seeds, factor: int, radius: int, shape: tuple[int, int]) -> list[Array]:
    """The flat indices of pixels around the seeds of each segment, in a picture that was shrunk by a factor."""
    height, width = shape
    offsets = np.arange(-radius, radius + 1)
    found = []
    for pixels in seeds.pixels:
        columns, rows = (np.asarray(pixels) // factor).T
        y = np.clip(rows[:, None, None] + offsets[:, None], 0, height - 1)
        x = np.clip(columns[:, None, None] + offsets[None, :], 0, width - 1)
        found.append(np.unique(y * width + x))
    return found
