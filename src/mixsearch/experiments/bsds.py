"""Pictures of BSDS500 with the segments that people drew in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.io import loadmat

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.experiments.data import data_folder
from mixsearch.segmentation import Pixel, RasterImage, read_image

FOLDER = "images/bsds500"
SPLITS = ("train", "val", "test")
# The paper takes pictures that were cut into fewer than four; cut into one, there is nothing to find.
FEWEST, MOST = 2, 3


class Annotation(NamedTuple):
    """The segments that one person drew."""

    number: int  # of the person
    segments: Array  # (h, w) of int, from 0

    @property
    def n_segments(self) -> int:
        """How many."""
        return int(self.segments.max()) + 1

    def draw_seeds(self, rng: np.random.Generator) -> list[Pixel]:
        """A pixel of each segment at random, as (x, y)."""
        width, flat = self.segments.shape[1], self.segments.ravel()
        chosen = [int(rng.choice(np.flatnonzero(flat == i))) for i in range(self.n_segments)]
        return [(place % width, place // width) for place in chosen]


def list_pictures() -> list[tuple[str, str]]:
    """The split and the name of each picture that some person cut into two or three segments."""
    folder = data_folder() / FOLDER / "groundTruth"
    return [
        (split, path.stem)
        for split in SPLITS
        for path in sorted((folder / split).glob("*.mat"), key=lambda path: int(path.stem))
        if any(_few_segments(path))
    ]


def load_picture(split: str, name: str) -> RasterImage:
    """A picture."""
    return read_image(data_folder() / FOLDER / "images" / split / f"{name}.jpg")


def load_annotations(split: str, name: str) -> list[Annotation]:
    """What people drew in a picture, those who drew two or three segments."""
    found = list(_few_segments(data_folder() / FOLDER / "groundTruth" / split / f"{name}.mat"))
    if not found:
        raise SearchError(f"Nobody cut the picture {name} of {split} into {FEWEST} or {MOST} segments.")
    return found


def _few_segments(path: Path) -> Iterator[Annotation]:
    for number, drawn in enumerate(loadmat(path)["groundTruth"][0]):
        numbers, segments = np.unique(drawn["Segmentation"][0, 0], return_inverse=True)
        if FEWEST <= len(numbers) <= MOST:
            yield Annotation(number, segments.reshape(drawn["Segmentation"][0, 0].shape))
