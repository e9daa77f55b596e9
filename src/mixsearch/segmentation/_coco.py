"""Masks as run lengths, in the format of COCO annotations."""

from __future__ import annotations

from typing import Any

import numpy as np

from mixsearch._typing import Array


def encode_mask(mask: Array) -> dict[str, Any]:
    """Return the size of a mask, and the lengths of its runs of False and True in turns, column by column.

    Parameters
    ----------
    mask : array of bool of shape (h, w)

    Returns
    -------
    dict
        `size`, [h, w], and `counts`, a list that starts with a run of False, which may be empty.

    Examples
    --------
    >>> encode_mask(np.array([[False, True], [True, True]]))
    {'size': [2, 2], 'counts': [1, 3]}
    """
    flat = np.ravel(mask, order="F")
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    counts = np.diff([0, *changes, len(flat)]).tolist()
    return {"size": list(mask.shape), "counts": [0, *counts] if flat[0] else counts}
