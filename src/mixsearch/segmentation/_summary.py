"""Summarize a segmentation as plain data."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any

from mixsearch.core.separation import verdict, verdict_code
from mixsearch.gaussian import GaussianComponent
from mixsearch.segmentation._overlay import make_segment_colors
from mixsearch.segmentation._segmentation import Segmentation


def summarize_segmentation(found: Segmentation) -> dict[str, Any]:
    """Return sizes, seeds, colors and separations of the segments, ready for JSON.

    Parameters
    ----------
    found : Segmentation
        The result of `segment`.

    Returns
    -------
    dict
        `width`, `height` and a list `segments`.
    """
    height, width = found.labels.shape
    segments = [
        {
            "name": name,
            "seeds": [list(pixel) for pixel in seeds],
            "pixels": int(size),
            "share": float(share),
            **_describe_separation(component),
            "color": f"#{bytes(color).hex()}",
        }
        for name, seeds, size, share, component, color in zip_longest(
            found.names, found.seeds, found.sizes, found.shares, found.components, make_segment_colors(len(found.names))
        )
    ]
    return {"width": width, "height": height, "segments": segments}


def _describe_separation(component: GaussianComponent | None) -> dict[str, Any]:
    if component is None:
        return {"separation": None, "verdict": "has no seed", "verdict_code": "no_seed"}
    separation = component.separation
    return {
        "separation": separation if math.isfinite(separation) else None,
        "verdict": verdict(separation),
        "verdict_code": verdict_code(separation),
    }
