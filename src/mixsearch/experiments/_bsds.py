"""Images of BSDS500 with the segments that people drew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.io import loadmat

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.experiments._data import get_data_folder
from mixsearch.segmentation import Pixel, RasterImage, read_image

FOLDER = "images/bsds500"
SPLITS = ("train", "val", "test")
# The paper takes images with fewer than four segments; with one, there is nothing to find.
MIN_SEGMENTS, MAX_SEGMENTS = 2, 3


class Annotation(NamedTuple):
    """The segments that one person drew."""

    person: int  # the index of the person
    segments: Array  # (h, w) of int, from 0

    @property
    def n_segments(self) -> int:
        """The number of segments."""
        return int(self.segments.max()) + 1

    def draw_seeds(self, rng: np.random.Generator) -> list[Pixel]:
        """Draw a random pixel (x, y) of each segment."""
        width, flat = self.segments.shape[1], self.segments.ravel()
        chosen = [int(rng.choice(np.flatnonzero(flat == i))) for i in range(self.n_segments)]
        return [(index % width, index // width) for index in chosen]


def list_images() -> list[tuple[str, str]]:
    """Return the split and name of each image in which someone drew two or three segments."""
    folder = get_data_folder() / FOLDER / "groundTruth"
    return [
        (split, path.stem)
        for split in SPLITS
        for path in sorted((folder / split).glob("*.mat"), key=lambda path: int(path.stem))
        if any(_read_annotations(path))
    ]


def load_image(split: str, name: str) -> RasterImage:
    """Read an image."""
    return read_image(get_data_folder() / FOLDER / "images" / split / f"{name}.jpg")


def load_annotations(split: str, name: str) -> list[Annotation]:
    """Read the annotations of an image with two or three segments."""
    found = list(_read_annotations(get_data_folder() / FOLDER / "groundTruth" / split / f"{name}.mat"))
    if not found:
        raise SearchError(
            "The image {name} of {split} has no annotation with {min_segments} to {max_segments} segments.",
            code="no_annotation",
            name=name,
            split=split,
            min_segments=MIN_SEGMENTS,
            max_segments=MAX_SEGMENTS,
        )
    return found


def _read_annotations(path: Path) -> Iterator[Annotation]:
    for person, drawn in enumerate(loadmat(path)["groundTruth"][0]):
        labels, segments = np.unique(drawn["Segmentation"][0, 0], return_inverse=True)
        if MIN_SEGMENTS <= len(labels) <= MAX_SEGMENTS:
            yield Annotation(person, segments.reshape(drawn["Segmentation"][0, 0].shape))
