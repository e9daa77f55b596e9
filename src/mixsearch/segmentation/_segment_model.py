"""The appearance of segments, independent of position, to find them in other images."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.segmentation._color import convert_to_lab
from mixsearch.segmentation._features import FeatureImage
from mixsearch.storage import explain_os_errors

FORMAT, VERSION = "mixsearch segments", 1
# Units of CIELAB, and of the logarithm of their standard deviation, that count as one step of appearance.
COLOR_STEP, TEXTURE_STEP = 10.0, 0.67
# The width of the kernel that compares appearances, in steps.
BANDWIDTH = 0.35
# Superpixels are like a model if some superpixel of it is within this many steps.
MAX_DISTANCE = 0.75
N_FEATURES = 6
_DIGITS = 4


class Likeness(NamedTuple):
    """The similarity of superpixels to a model."""

    probabilities: Array  # (n, k): of each segment, given that the superpixel belongs to one
    is_familiar: Array  # (n,): whether the model has anything like it


@dataclass(frozen=True, eq=False)
class SegmentModel:
    """The appearance of segments.

    Attributes
    ----------
    names : tuple of str
        The names of the segments.
    appearances : array of shape (n, 6)
        The mean color and the texture of each superpixel of the image that it comes from.
    probabilities : array of shape (n, k)
        The probability of each segment at these superpixels.
    """

    names: tuple[str, ...]
    appearances: Array
    probabilities: Array

    def compare(self, appearances: Array) -> Likeness:
        """Compare the superpixels of an image with the model.

        Parameters
        ----------
        appearances : array of shape (m, 6)
            What `describe_appearance` returns.

        Returns
        -------
        Likeness
        """
        squared = cdist(appearances, self.appearances, "sqeuclidean")
        least = squared.min(axis=1, keepdims=True)
        kernel = np.exp((least - squared) / (2 * BANDWIDTH**2))  # relative to the nearest: none is too far to compare
        votes = kernel @ self.probabilities
        return Likeness(votes / votes.sum(axis=1, keepdims=True), least[:, 0] <= MAX_DISTANCE**2)

    def to_json(self) -> str:
        """Return the model as JSON, which `read_segment_model` reads.

        Returns
        -------
        str
        """
        content = {
            "format": FORMAT,
            "version": VERSION,
            "names": self.names,
            "appearances": self.appearances.round(_DIGITS).tolist(),
            "probabilities": self.probabilities.round(_DIGITS).tolist(),
        }
        return json.dumps(content)


def read_segment_model(path: str | os.PathLike[str]) -> SegmentModel:
    """Read a model from a JSON file.

    Parameters
    ----------
    path : path
        A file that `Segmentation.save_model` wrote.

    Returns
    -------
    SegmentModel
    """
    with explain_os_errors("read", Path(path)):
        content = Path(path).read_bytes()
    try:
        return _check_model(json.loads(content))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SearchError(
            "'{path}' isn't a model of segments. Write one with: mixsearch segment IMAGE --seed X,Y --save-model FILE",
            code="bad_segment_model",
            path=str(path),
        ) from error


def _check_model(content: Any) -> SegmentModel:
    names = tuple(map(str, content["names"]))
    appearances, probabilities = (np.array(content[key], dtype=float) for key in ("appearances", "probabilities"))
    is_right = (
        (content["format"], content["version"]) == (FORMAT, VERSION)
        and len(appearances) > 0
        and appearances.shape == (len(appearances), N_FEATURES)
        and probabilities.shape == (len(appearances), len(names))
        and np.isfinite(appearances).all()
        and (probabilities >= 0).all()
        and (probabilities.sum(axis=1) > 0).all()
    )
    if not is_right:
        raise ValueError("The parts do not fit together.")
    return SegmentModel(names, appearances, probabilities)


def describe_appearance(features: FeatureImage) -> Array:
    """Return the mean color of each superpixel and the log of its deviation, in steps of appearance, (n, 6)."""
    superpixels, lab = features.graph.superpixels, convert_to_lab(features.image.rows(slice(None))).astype(float)
    means = superpixels.average(lab)
    deviations = np.sqrt(np.maximum(superpixels.average(lab**2) - means**2, 0))
    return np.hstack([means / COLOR_STEP, np.log1p(deviations) / TEXTURE_STEP])


def find_visible(features: FeatureImage) -> Array:
    """Return which superpixels are mostly visible, (n,) of bool."""
    superpixels, visible = features.graph.superpixels, features.image.visible
    if visible is None:
        return np.ones(len(superpixels.sizes), dtype=bool)
    return superpixels.average(visible[..., None])[:, 0] > 0.5
