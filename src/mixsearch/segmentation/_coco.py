"""Masks as run lengths, in the format of COCO annotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mixsearch._typing import Array


def encode_mask(mask: Array) -> dict[str, Any]:
    """Return the size of a mask, and the lengths of its alternating runs of False and True, column by column.

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


def make_annotations(labels: Array, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return an annotation for each segment with pixels."""
    annotations = []
    for i, name in enumerate(names):
        mask = labels == i
        y, x = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if not len(y):
            continue
        bbox = [int(x[0]), int(y[0]), int(x[-1] - x[0] + 1), int(y[-1] - y[0] + 1)]
        annotation = {"id": i + 1, "category_id": i + 1, "category_name": name, "segmentation": encode_mask(mask)}
        annotations.append(annotation | {"area": int(np.count_nonzero(mask)), "bbox": bbox, "iscrowd": 1})
    return annotations


def make_coco_dataset(images: Iterable[tuple[str, list[dict[str, Any]]]]) -> dict[str, Any]:
    """Join the annotations of images into the data set that tools for COCO read, ready for JSON.

    Parameters
    ----------
    images : iterable of (str, list of dict)
        The file of each image, and what `Segmentation.to_coco` returns for it. All have the same segments.

    Returns
    -------
    dict
        `images`, `categories` and `annotations`.
    """
    described: list[dict[str, Any]] = []
    joined: list[dict[str, Any]] = []
    categories: dict[int, str] = {}
    for image_id, (file, own) in enumerate(images, 1):
        height, width = own[0]["segmentation"]["size"]
        described.append({"id": image_id, "file_name": file, "width": width, "height": height})
        for annotation in own:
            categories[annotation["category_id"]] = annotation["category_name"]
            plain = {key: value for key, value in annotation.items() if key != "category_name"}
            joined.append(plain | {"id": len(joined) + 1, "image_id": image_id})
    named = [{"id": i, "name": name} for i, name in sorted(categories.items())]
    return {"images": described, "categories": named, "annotations": joined}
