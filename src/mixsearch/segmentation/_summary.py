"""Summarize a segmentation as plain data."""

from __future__ import annotations

import math
from typing import Any

from mixsearch.core.separation import verdict, verdict_code
from mixsearch.segmentation._confidence import judge_overlap
from mixsearch.segmentation._overlay import make_hex_colors
from mixsearch.segmentation._segmentation import Segmentation


def summarize_segmentation(found: Segmentation) -> dict[str, Any]:
    """Return sizes, seeds, colors and verdicts of the segments, ready for JSON.

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
