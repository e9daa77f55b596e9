"""A labeled image: what can be measured, drawn and written of its segments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.segmentation._coco import make_annotations
from mixsearch.segmentation._image import RasterImage
from mixsearch.segmentation._image_files import iterate_masks, make_label_image, make_pillow_image, write_files
from mixsearch.segmentation._outline_files import make_geojson, make_outline_file, make_svg
from mixsearch.segmentation._outlines import Outline, trace_outlines
from mixsearch.segmentation._overlay import draw_overlay
from mixsearch.segmentation._seeds import Pixel

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, eq=False, repr=False)
class LabeledImage:
    """An image with a label for each pixel.

    Attributes
    ----------
    labels : array of shape (h, w)
        The index of each pixel's segment, from 0; -1 if the pixel is transparent.
    names : tuple of str
        The names of the segments.
    seeds : tuple
        The seed pixels (x, y) of each segment; empty for the rest of an image with one seed.
    """

    labels: Array
    names: tuple[str, ...]
    seeds: tuple[tuple[Pixel, ...], ...]
    _image: RasterImage = field(kw_only=True)

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

    def outlines(self, simplify: float = 0.0) -> list[list[Outline]]:
        """Return the outlines of each segment as polygons.

        Parameters
        ----------
        simplify : float, default=0
            With 0, outlines run along the sides of pixels. Otherwise they have fewer corners and stay within this many
            pixels of the exact ones; neighbors still share their borders, and no two borders cross.

        Returns
        -------
        list of lists of Outline
            For each segment one outline per connected piece, with its `exterior` and `holes`.
        """
        return trace_outlines(self.labels, len(self.names), simplify)

    def to_svg(self, simplify: float = 0.0) -> str:
        """Return the outlines as an SVG drawing of the size of the image, with a path for each segment.

        Parameters
        ----------
        simplify : float, default=0
            As in `outlines`.

        Returns
        -------
        str
        """
        return make_svg(self.outlines(simplify), self.names, self.labels.shape)

    def to_geojson(self, simplify: float = 0.0) -> dict[str, Any]:
        """Return the outlines as GeoJSON, ready for JSON. Coordinates are pixels, x to the right and y down.

        Parameters
        ----------
        simplify : float, default=0
            As in `outlines`.

        Returns
        -------
        dict
            A FeatureCollection with a MultiPolygon for each segment with pixels, and its `name`, `color`, `pixels` and
            `share` as properties.
        """
        return make_geojson(self.outlines(simplify), self.names, self.sizes)

    def to_coco(self) -> list[dict[str, Any]]:
        """Return the segments as annotations in the format of COCO, ready for JSON.

        Returns
        -------
        list of dict
            For each segment with pixels its `id`, `category_id` and `category_name`, `segmentation` as run lengths,
            `area` in pixels, `bbox` as [x, y, width, height] and `iscrowd`, 1 for run lengths.
        """
        return make_annotations(self.labels, self.names)

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

    def save_outlines(self, path: str | os.PathLike[str], *, simplify: float = 0.0) -> Path:
        """Write the outlines to an SVG or GeoJSON file.

        Parameters
        ----------
        path : path
            The suffix sets the format: .svg, or .geojson or .json.
        simplify : float, default=0
            As in `outlines`.

        Returns
        -------
        Path
            The file written.
        """
        target = Path(path)
        write_files({target: make_outline_file(self, target, simplify)})
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


def save_folder(images: Iterator[tuple[str, Image]], folder: str | os.PathLike[str]) -> list[Path]:
    """Write images by their names to a folder, and return the files."""
    files = {Path(folder) / name: image for name, image in images}
    write_files(files)
    return list(files)
