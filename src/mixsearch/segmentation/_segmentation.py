"""The result of a segmentation: labels, probabilities, components, and how far to trust them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.separation import separation_in_words
from mixsearch.display import Card, plain_number
from mixsearch.errors import Option, SearchError
from mixsearch.gaussian import GaussianComponent
from mixsearch.segmentation._confidence import Confidence, judge_overlap
from mixsearch.segmentation._features import FeatureImage
from mixsearch.segmentation._image_files import make_file_names, make_pillow_image, write_files
from mixsearch.segmentation._labeled_image import LabeledImage, save_folder
from mixsearch.segmentation._overlay import make_cut_out
from mixsearch.segmentation._seeds import Pixel, Seed
from mixsearch.segmentation._segment_model import SegmentModel, describe_appearance, find_visible

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation(LabeledImage):
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

    _features: FeatureImage = field(kw_only=True)
    _compute_probabilities: Callable[[], Array] = field(kw_only=True)
    _find_components: Callable[[], tuple[GaussianComponent, ...]] = field(kw_only=True)
    _confidence: Confidence | None = field(kw_only=True)
    _correct: Callable[[Mapping[str, Seed]], Segmentation] = field(kw_only=True)
    _scale: float = field(kw_only=True)  # pixels of this image per pixel of the one with features

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

    def to_model(self) -> SegmentModel:
        """Return the appearance of the segments, to find them in other images with `segment_like`.

        Returns
        -------
        SegmentModel
        """
        if self._confidence is None:
            raise SearchError(
                "A model of segments needs {assign}='graph'.", code="needs_graph", assign=Option("assign")
            )
        is_visible = find_visible(self._features)
        return SegmentModel(
            self.names, describe_appearance(self._features)[is_visible], self._confidence.probabilities[is_visible]
        )

    def save_model(self, path: str | os.PathLike[str]) -> Path:
        """Write the appearance of the segments to a JSON file, for `segment_like`.

        Parameters
        ----------
        path : path
            The file to write.

        Returns
        -------
        Path
            The file written.
        """
        target = Path(path)
        write_files({target: self.to_model().to_json()})
        return target

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
    """Make a transparent image of each segment, one at a time.

    Parameters
    ----------
    found : Segmentation
        The segmented image.

    Yields
    ------
    file : str
        A file name with the number and the name of the segment.
    image : PIL.Image.Image
    """
    for i, file in enumerate(make_file_names(found.names)):
        yield file, make_pillow_image(found.cut_out(i))
