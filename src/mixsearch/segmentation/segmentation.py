"""What a segmentation holds: labels, memberships, the components behind them, pictures of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

import numpy as np

from mixsearch.display import Card, separation_in_words
from mixsearch.errors import SearchError
from mixsearch.estimators import GaussianComponent
from mixsearch.segmentation.images import Picture
from mixsearch.segmentation.overlays import draw_overlay
from mixsearch.segmentation.seeds import Pixel
from mixsearch.segmentation.writing import as_image, as_indexed, mask_images, write_images
from mixsearch.types import Array


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation:
    """A picture cut into segments, one for each seed.

    Attributes
    ----------
    labels : array of shape (h, w)
        The number of each pixel's segment, from 0; -1 where the picture is transparent.
    names : tuple of str
        Of the segments.
    seeds : tuple
        The pixels (x, y) that each segment was given; none for the rest of a picture with one seed.
    components : tuple of GaussianComponent
        What the search found for each seed: its `separation` and `confidence` tell how far to trust it.
    """

    labels: Array
    names: tuple[str, ...]
    seeds: tuple[tuple[Pixel, ...], ...]
    components: tuple[GaussianComponent, ...]
    picture: Picture = field(kw_only=True)
    find_probabilities: Callable[[], Array] = field(kw_only=True)

    @cached_property
    def probabilities(self) -> Array:
        """The probability of each segment at each pixel, (h, w, k) of float32; they are worked out when asked for."""
        return self.find_probabilities()

    @cached_property
    def sizes(self) -> Array:
        """Pixels of each segment, (k,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.names))

    @property
    def shares(self) -> Array:
        """The part of the visible picture that each segment covers, (k,)."""
        return np.asarray(self.sizes / max(self.sizes.sum(), 1))

    @property
    def separations(self) -> Array:
        """By what factor each seed's component leads the next one under it; near 1, the seed says little."""
        return np.array([component.separation for component in self.components])

    def mask(self, segment: int | str) -> Array:
        """Where one segment is, (h, w) of bool.

        Parameters
        ----------
        segment : int or str
            Its number, from 0, or its name.
        """
        return np.asarray(self.labels == self._number(segment))

    def _number(self, segment: int | str) -> int:
        if isinstance(segment, str) and segment in self.names:
            return self.names.index(segment)
        if not isinstance(segment, str) and 0 <= segment < len(self.names):
            return int(segment)
        raise SearchError(
            f"There is no segment {segment!r}. There are {', '.join(self.names)}: 0 to {len(self.names) - 1}."
        )

    def overlay(self, opacity: float = 0.5, *, marks: bool = True) -> Array:
        """The picture with its segments tinted, a line where they meet and a cross on each seed, (h, w, 3) of uint8.

        Parameters
        ----------
        opacity : float, default=0.5
            Of the tint, from 0 to 1.
        marks : bool, default=True
            Whether to draw the crosses.
        """
        if not 0 <= opacity <= 1:
            raise SearchError(f"opacity must be from 0 to 1; found {opacity!r}.")
        pixels = [pixel for pixels in self.seeds for pixel in pixels] if marks else []
        return draw_overlay(self.picture, self.labels, pixels, len(self.names), opacity)

    def save(self, path: str | os.PathLike[str], *, opacity: float = 0.5) -> Path:
        """Write the overlay to an image file, whole or not at all.

        Parameters
        ----------
        path : path
            Its suffix tells the format: .png, .jpg and so on.
        opacity : float, default=0.5
            Of the tint.
        """
        target = Path(path)
        write_images({target: as_image(self.overlay(opacity))})
        return target

    def save_labels(self, path: str | os.PathLike[str]) -> Path:
        """Write the labels as an indexed image: its values are the numbers of the segments, and 255 stands for none."""
        target = Path(path)
        write_images({target: as_indexed(self.labels, len(self.names))})
        return target

    def save_masks(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write a black and white image, 0 and 255, for each segment; the folder is made where it is missing."""
        images = mask_images(self.names, self.labels, Path(folder))
        write_images(images)
        return list(images)

    def _card(self) -> Card:
        height, width = self.labels.shape
        return Card(
            title=f"Segmentation of {width} x {height} pixels into {len(self.names)} segments",
            facts=[
                (name, f"separation {separation_in_words(component.separation)}" if component else "has no seed")
                for name, component in zip_longest(self.names, self.components)
            ],
            bars=[(name, float(share)) for name, share in zip(self.names, self.shares, strict=True)],
            bars_title="part of the picture",
        )

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()
