"""The result of a segmentation: labels, probabilities, components, and how far to trust them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.confidence import separation_in_words, verdict, verdict_code
from mixsearch.display import Card, plain_number
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.gaussian import GaussianComponent
from mixsearch.segmentation.graph import Confidence, judge_overlap
from mixsearch.segmentation.image import RasterImage
from mixsearch.segmentation.image_files import (
    draw_overlay,
    iterate_masks,
    make_cut_out,
    make_file_names,
    make_hex_colors,
    make_label_image,
    make_pillow_image,
    write_files,
)
from mixsearch.segmentation.outlines import Outline, trace_outlines
from mixsearch.segmentation.seeds import Pixel, Seed

if TYPE_CHECKING:
    from PIL.Image import Image


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

    Examples
    --------
    >>> import numpy as np
    >>> import mixsearch
    >>> image = np.random.default_rng(0).normal(0.3, 0.05, (40, 60))
    >>> image[:, 30:] += 0.4
    >>> found = mixsearch.segment(image, {"dark": (5, 5), "light": (50, 20)})
    >>> found.names[found.labels[20, 10]], found.names[found.labels[20, 55]]  # a row and a column of the image
    ('dark', 'light')
    >>> found = found.correct({"dark": (28, 35)})
    >>> found.shares.round(1)
    array([0.5, 0.5])
    """

    labels: Array
    names: tuple[str, ...]
    seeds: tuple[tuple[Pixel, ...], ...]
    _image: RasterImage = field(kw_only=True)
    _compute_probabilities: Callable[[], Array] = field(kw_only=True)
    _find_components: Callable[[], tuple[GaussianComponent, ...]] = field(kw_only=True)
    _confidence: Confidence | None = field(kw_only=True)
    _correct: Callable[[Mapping[str, Seed]], Segmentation] = field(kw_only=True)
    _scale: float = field(kw_only=True)  # pixels of this image per pixel of the one with features

    @cached_property
    def sizes(self) -> Array:
        """The number of pixels of each segment, (k,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.names))

    @property
    def shares(self) -> Array:
        """The fraction of the visible image that each segment covers, (k,)."""
        return np.asarray(self.sizes / max(self.sizes.sum(), 1))

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
        return np.asarray(self.labels == self._find_index(segment))

    def _find_index(self, segment: int | str) -> int:
        if isinstance(segment, str) and segment in self.names:
            return self.names.index(segment)
        if not isinstance(segment, str) and 0 <= segment < len(self.names):
            return int(segment)
        raise SearchError(
            "There is no segment {segment!r}. The segments are {known}, or 0 to {max_index}.",
            code="unknown_segment",
            segment=segment,
            known=", ".join(self.names),
            max_index=len(self.names) - 1,
        )

    def outlines(self) -> list[list[Outline]]:
        """Return the outlines of each segment as polygons along the sides of pixels.

        Returns
        -------
        list of lists of Outline
            For each segment one outline per connected piece, with its `exterior` and `holes`.
        """
        return trace_outlines(self.labels, len(self.names))

    def overlay(self, opacity: float = 0.5, *, marks: bool = True) -> Array:
        """Draw the image with tinted segments, a line along their borders and a cross on each seed.

        Parameters
        ----------
        opacity : float, default=0.5
            The opacity of the tint, from 0 to 1.
        marks : bool, default=True
            Whether to draw the crosses.

        Returns
        -------
        array of uint8 of shape (h, w, 3)
        """
        if not 0 <= opacity <= 1:
            raise ArgumentError(
                "{argument} must be between 0 and 1, got {value!r}.", argument=Option("opacity"), value=opacity
            )
        pixels = [pixel for pixels in self.seeds for pixel in pixels] if marks else []
        return draw_overlay(self._image, self.labels, pixels, len(self.names), opacity)

    def save(self, path: str | os.PathLike[str], *, opacity: float = 0.5) -> Path:
        """Write the overlay to an image file.

        Parameters
        ----------
        path : path
            The suffix sets the format: .png, .jpg and so on.
        opacity : float, default=0.5
            The opacity of the tint.

        Returns
        -------
        Path
            The file written.
        """
        target = Path(path)
        write_files({target: make_pillow_image(self.overlay(opacity))})
        return target

    def save_labels(self, path: str | os.PathLike[str]) -> Path:
        """Write the labels as an indexed image: its values are the labels, and 255 for transparent pixels.

        Parameters
        ----------
        path : path
            The file to write, usually .png.

        Returns
        -------
        Path
            The file written.
        """
        target = Path(path)
        write_files({target: make_label_image(self.labels, len(self.names))})
        return target

    def save_masks(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write a black and white PNG, of values 0 and 255, for each segment.

        Parameters
        ----------
        folder : path
            Created if it does not exist.

        Returns
        -------
        list of Path
            The files written.
        """
        return save_folder(iterate_masks(self.names, self.labels), folder)

    @cached_property
    def components(self) -> tuple[GaussianComponent, ...]:
        """The component of the image's mixture found for the seeds of each segment, computed on first use."""
        return self._find_components()

    @cached_property
    def probabilities(self) -> Array:
        """The probability of each segment at each pixel, (h, w, k) of float32, computed on first use."""
        return self._compute_probabilities()

    @property
    def separations(self) -> Array:
        """The ratio of the scores of each seed's component and its runner-up; near 1, the seed is a weak hint."""
        return np.array([component.separation for component in self.components])

    @property
    def has_graph(self) -> bool:
        """Whether the seeds were interpolated over a graph, so that probabilities and overlaps can be trusted."""
        return self._confidence is not None

    @property
    def expected_iou(self) -> Array:
        """The expected intersection over union of each segment and the one meant, (k,); NaN without a graph."""
        if self._confidence is None:
            return np.full(len(self.names), np.nan)
        return self._confidence.expected_iou

    def correct(self, seeds: Mapping[str, Seed]) -> Segmentation:
        """Add seeds, which change only pixels connected to them.

        Parameters
        ----------
        seeds : mapping of str to pixel or pixels
            Further pixels (x, y) of the full image by the names of their segments; "rest" is one of them.

        Returns
        -------
        Segmentation
            The corrected one.

        Notes
        -----
        A superpixel changes only to the segment of a new seed, if the new label is at least as certain as the old one,
        and if it is connected to the seed through superpixels that change as well. `segment` with all seeds ignores
        their order.
        """
        return self._correct(seeds)

    def suggest_click(self) -> Pixel:
        """Return the pixel (x, y) where another seed would help most.

        Returns
        -------
        tuple of int
        """
        if self._confidence is None:
            raise SearchError(
                "Where to click next is known only with {assign}='graph'.", code="needs_graph", assign=Option("assign")
            )
        height, width = self.labels.shape
        x, y = self._confidence.find_middle(self._confidence.suggest())
        return min(int((x + 0.5) * self._scale), width - 1), min(int((y + 0.5) * self._scale), height - 1)

    def cut_out(self, segment: int | str) -> Array:
        """Return one segment on a transparent background, with a soft edge.

        Parameters
        ----------
        segment : int or str
            Its index, from 0, or its name.

        Returns
        -------
        array of uint8 of shape (h, w, 4)
            RGB and alpha: 255 inside, 0 outside, and the probability of the segment in a band around its border.
        """
        return make_cut_out(self._image, self.labels, self.probabilities, self._find_index(segment))

    def save_cut_outs(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write each segment on a transparent background as a PNG with a soft edge.

        Parameters
        ----------
        folder : path
            Created if it does not exist.

        Returns
        -------
        list of Path
            The files written.
        """
        return save_folder(iterate_cut_outs(self), folder)

    def _card(self) -> Card:
        height, width = self.labels.shape
        return Card(
            title=f"Segmentation of {width} x {height} pixels into {len(self.names)} segments",
            facts=[(name, self._describe_trust(i)) for i, name in enumerate(self.names)],
            bars=[(name, float(share)) for name, share in zip(self.names, self.shares, strict=True)],
            bars_title="part of the image",
        )

    def _describe_trust(self, i: int) -> str:
        if not self.seeds[i]:
            return "has no seed"
        if self.has_graph:
            expected = float(self.expected_iou[i])
            return f"expected overlap {plain_number(expected)}: {judge_overlap(expected)[1]}"
        return f"separation {separation_in_words(self.components[i].separation)}"

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


def iterate_cut_outs(found: Segmentation) -> Iterator[tuple[str, Image]]:
    """Make a transparent image of each segment, one at a time."""
    for i, file in enumerate(make_file_names(found.names)):
        yield file, make_pillow_image(found.cut_out(i))


def save_folder(images: Iterator[tuple[str, Image]], folder: str | os.PathLike[str]) -> list[Path]:
    """Write images by their names to a folder, and return the files."""
    files = {Path(folder) / name: image for name, image in images}
    write_files(files)
    return list(files)


def summarize_segmentation(found: Segmentation) -> dict[str, Any]:
    """Return sizes, seeds, colors and verdicts of the segments, ready for JSON."""
    height, width = found.labels.shape
    segments = [
        {
            "name": name,
            "seeds": [list(pixel) for pixel in seeds],
            "pixels": int(size),
            "share": float(share),
            **_describe_trust(found, i),
            "color": color,
        }
        for i, (name, seeds, size, share, color) in enumerate(
            zip(found.names, found.seeds, found.sizes, found.shares, make_hex_colors(len(found.names)), strict=True)
        )
    ]
    return {"width": width, "height": height, "segments": segments}


def _describe_trust(found: Segmentation, i: int) -> dict[str, Any]:
    """Return how far to trust a segment: its expected overlap with a graph, its separation with a mixture."""
    expected = float(found.expected_iou[i]) if found.has_graph else None
    separation: float | None = None
    if not found.seeds[i]:
        code, words = "no_seed", "has no seed"
    elif expected is not None:
        code, words = judge_overlap(expected)
    else:
        separation = found.components[i].separation
        code, words = verdict_code(separation), verdict(separation)
    shown = separation if separation is not None and math.isfinite(separation) else None
    return {"separation": shown, "expected_iou": expected, "verdict": words, "verdict_code": code}
