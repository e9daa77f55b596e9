"""The result of a segmentation: labels, probabilities and how far to trust them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import gaussian_filter

from mixsearch._typing import Array
from mixsearch.display import Card, plain_number
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.image.files import (
    draw_overlay,
    make_file_names,
    make_hex_colors,
    make_pillow_image,
    write_files,
)
from mixsearch.image.reading import RasterImage
from mixsearch.image.seeds import Pixel

if TYPE_CHECKING:
    from PIL.Image import Image

# The smallest expected intersection over union, a code and words; in falling order.
VERDICTS = ((0.85, "sure", "sure"), (0.65, "partial", "partly in doubt"), (0.0, "unsure", "in doubt: add a seed"))
# The width of the soft edge of a cut-out, relative to the image's side.
SOFT_EDGE = 0.0015


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation:
    """A segmented image.

    Attributes
    ----------
    labels : array of shape (h, w)
        The index of each pixel's segment, from 0; -1 if the pixel is transparent.
    names : tuple of str
        The names of the segments.
    seeds : tuple
        The seed pixels (x, y) of each segment; empty for the rest of an image with one seed.
    expected_iou : array of shape (k,)
        The expected intersection over union of each segment and the one meant; NaN with ``method="paper"``.

    Examples
    --------
    >>> import numpy as np
    >>> import mixsearch
    >>> image = np.random.default_rng(0).normal(0.3, 0.05, (40, 60))
    >>> image[:, 30:] += 0.4
    >>> found = mixsearch.segment(image, {"dark": (5, 5), "light": (50, 20)})
    >>> found.names[found.labels[20, 10]], found.names[found.labels[20, 55]]  # a row and a column of the image
    ('dark', 'light')
    >>> found.shares.round(1)
    array([0.5, 0.5])
    """

    labels: Array
    names: tuple[str, ...]
    seeds: tuple[tuple[Pixel, ...], ...]
    expected_iou: Array
    _image: RasterImage = field(kw_only=True)
    _compute_probabilities: Callable[[], Array] = field(kw_only=True)

    @cached_property
    def sizes(self) -> Array:
        """The number of pixels of each segment, (k,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.names))

    @property
    def shares(self) -> Array:
        """The fraction of the visible image that each segment covers, (k,)."""
        return np.asarray(self.sizes / max(self.sizes.sum(), 1))

    @cached_property
    def probabilities(self) -> Array:
        """The probability of each segment at each pixel, (h, w, k) of float32, computed on first use."""
        return self._compute_probabilities()

    def mask(self, segment: int | str) -> Array:
        """Return the mask of one segment.

        Parameters
        ----------
        segment : int or str
            Its index, from 0, or its name.

        Returns
        -------
        array of bool of shape (h, w)
        """
        if isinstance(segment, str) and segment in self.names:
            return np.asarray(self.labels == self.names.index(segment))
        if not isinstance(segment, str) and 0 <= segment < len(self.names):
            return np.asarray(self.labels == segment)
        raise SearchError(
            "There is no segment {segment!r}. The segments are {known}, or 0 to {max_index}.",
            code="unknown_segment",
            segment=segment,
            known=", ".join(self.names),
            max_index=len(self.names) - 1,
        )

    def outlines(self, tolerance: float = 0.5) -> list[list[Array]]:
        """Return the outlines of each segment as polygons.

        Parameters
        ----------
        tolerance : float, default=0.5
            How far in pixels a polygon may be from the sides of the pixels.

        Returns
        -------
        list of lists of arrays of shape (n, 2)
            For each segment the corners (x, y) of its rings, those of holes included: all of them together, filled by
            the even-odd rule, make the segment. The corner 0, 0 is the upper left one of the first pixel.
        """
        from skimage.measure import approximate_polygon, find_contours

        # A contour halfway between the middles of pixels cuts the corners of pixels, and passes through their sides.
        return [
            [
                approximate_polygon(ring, tolerance)[:-1, ::-1] - 0.5
                for ring in find_contours(np.pad(self.labels == i, 1).astype(np.float32), 0.5)
            ]
            for i in range(len(self.names))
        ]

    def overlay(self, opacity: float = 0.5) -> Array:
        """Draw the image with tinted segments, a line along their borders and a cross on each seed.

        Parameters
        ----------
        opacity : float, default=0.5
            The opacity of the tint, from 0 to 1.

        Returns
        -------
        array of uint8 of shape (h, w, 3)
        """
        if not 0 <= opacity <= 1:
            raise ArgumentError(
                "{argument} must be between 0 and 1, got {value!r}.", argument=Option("opacity"), value=opacity
            )
        pixels = [pixel for pixels in self.seeds for pixel in pixels]
        return draw_overlay(self._image, self.labels, pixels, len(self.names), opacity)

    def cut_out(self, segment: int | str) -> Array:
        """Return one segment on a transparent background, with a soft edge.

        Parameters
        ----------
        segment : int or str
            Its index, from 0, or its name.

        Returns
        -------
        array of uint8 of shape (h, w, 4)
            RGB and alpha: 255 inside, 0 outside.
        """
        inside = self.mask(segment).astype(np.float32)
        alpha = gaussian_filter(inside, SOFT_EDGE * np.sqrt(inside.size), mode="nearest", truncate=2.0)
        return np.dstack([self._image.to_uint8(), np.where(self.labels < 0, 0, 255 * alpha + 0.5).astype(np.uint8)])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the overlay to an image file.

        Parameters
        ----------
        path : path
            The suffix sets the format: .png, .jpg and so on.

        Returns
        -------
        Path
            The file written.
        """
        write_files({Path(path): make_pillow_image(self.overlay())})
        return Path(path)

    def _card(self) -> Card:
        summary = summarize_segmentation(self)
        names = [each["name"] for each in summary["segments"]]
        return Card(
            title=f"Segmentation of {summary['width']} x {summary['height']} pixels into {len(names)} segments",
            facts=list(zip(names, (each["verdict"] for each in summary["segments"]), strict=True)),
            bars=list(zip(names, (each["share"] for each in summary["segments"]), strict=True)),
            bars_title="part of the image",
        )

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


def judge_overlap(expected_iou: float) -> tuple[str, str]:
    """Return what an expected intersection over union means: a code and words."""
    known = (each[1:] for each in VERDICTS if expected_iou >= each[0])
    return next(known, ("unknown", "expected overlap unknown"))


def iterate_cut_outs(found: Segmentation) -> Iterator[tuple[str, Image]]:
    """Make a transparent image of each segment, one at a time."""
    for i, file in enumerate(make_file_names(found.names)):
        yield file, make_pillow_image(found.cut_out(i))


def summarize_segmentation(found: Segmentation) -> dict[str, Any]:
    """Return sizes, seeds, colors and verdicts of the segments, ready for JSON."""
    height, width = found.labels.shape
    segments = []
    for i, (name, color) in enumerate(zip(found.names, make_hex_colors(len(found.names)), strict=True)):
        expected = float(found.expected_iou[i])
        code, words = judge_overlap(expected) if found.seeds[i] else ("no_seed", "has no seed")
        lead = "" if code in ("no_seed", "unknown") else f"expected overlap {plain_number(expected)}: "
        segments.append(
            {
                "name": name,
                "seeds": [list(pixel) for pixel in found.seeds[i]],
                "pixels": int(found.sizes[i]),
                "share": float(found.shares[i]),
                "expected_iou": None if np.isnan(expected) else expected,
                "verdict": lead + words,
                "verdict_code": code,
                "color": color,
            }
        )
    return {"width": width, "height": height, "segments": segments}
