"""Clean the pieces of segments: connected regions of pixels with the same label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.ndimage import binary_dilation, find_objects, label

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option
from mixsearch.segmentation._gaussians import argmax_segments

# By default, pieces without seeds smaller than this fraction of the image are removed.
MIN_AREA = 0.0005


class PieceOptions(NamedTuple):
    """Which pieces without seeds a segment may have.

    Attributes
    ----------
    connected : bool
        None at all.
    fill_holes : bool
        None within a single other segment.
    min_area : float
        None smaller than this fraction of the image.
    """

    connected: bool = False
    fill_holes: bool = False
    min_area: float = MIN_AREA


def make_piece_options(connected: bool, fill_holes: bool, min_area: float | None) -> PieceOptions:
    """Return checked options.

    Parameters
    ----------
    connected : bool
        Keep only pieces with a seed.
    fill_holes : bool
        Fill pieces within a single other segment.
    min_area : float or None
        The smallest fraction of the image, from 0 to 1; None for the default.

    Returns
    -------
    PieceOptions
    """
    if min_area is None:
        return PieceOptions(connected, fill_holes)
    if not 0 <= min_area <= 1:
        raise ArgumentError(
            "{argument} must be between 0 and 1, got {value!r}.", argument=Option("min_area"), value=min_area
        )
    return PieceOptions(connected, fill_holes, min_area)


def clean_pieces(probabilities: Array, seeded: Sequence[Array], options: PieceOptions) -> None:
    """Assign unwanted pieces to the likeliest segment around them, in place.

    Parameters
    ----------
    probabilities : array of shape (k, h, w)
    seeded : sequence of arrays
        The flat indices of the seeds of each segment. A segment without seeds keeps its pieces if `connected`.
    options : PieceOptions
    """
    min_pixels = options.min_area * probabilities[0].size
    labels = argmax_segments(probabilities)
    for i, seeds in enumerate(seeded):
        numbered, n_pieces = label(labels == i)
        sizes = np.bincount(numbered.ravel(), minlength=n_pieces + 1)
        keeps = (
            set(np.unique(numbered.ravel()[seeds])) if len(seeds) else {int(sizes[1:].argmax()) + 1 if n_pieces else 0}
        )
        for number, box in enumerate(find_objects(numbered), 1):
            if number in keeps:
                continue
            is_small, is_cut = sizes[number] < min_pixels, options.connected and len(seeds) > 0
            if is_small or is_cut or options.fill_holes:
                _give_away(probabilities, labels, i, _grow(box), numbered == number, must=bool(is_small or is_cut))


def _grow(box: tuple[slice, ...]) -> tuple[slice, ...]:
    return tuple(slice(max(side.start - 1, 0), side.stop + 1) for side in box)


def _give_away(
    probabilities: Array, labels: Array, i: int, box: tuple[slice, ...], piece: Array, *, must: bool
) -> None:
    """Swap the probabilities of a piece's segment and the likeliest one around it; unless `must`, the only one."""
    inside = piece[box]
    around = np.unique(labels[box][binary_dilation(inside) & ~inside])
    others = around[around != i]
    if not len(others) or not (must or len(others) == 1):
        return
    planes = probabilities[(slice(None), *box)]
    chosen = int(others[planes[others][:, inside].mean(axis=1).argmax()])
    planes[i, inside], planes[chosen, inside] = planes[chosen, inside], planes[i, inside].copy()
    labels[box][inside] = chosen
