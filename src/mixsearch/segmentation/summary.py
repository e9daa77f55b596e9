"""All that is told of a segmentation, as plain data."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any

from mixsearch.display import verdict
from mixsearch.estimators import GaussianComponent
from mixsearch.segmentation.overlays import colours_of
from mixsearch.segmentation.segmentation import Segmentation


def summarise(found: Segmentation) -> dict[str, Any]:
    """The sizes, seeds and colours of the segments and how far to trust them, as JSON has it."""
    height, width = found.labels.shape
    segments = [
        {
            "name": name,
            "seeds": [list(pixel) for pixel in seeds],
            "pixels": int(size),
            "share": float(share),
            **_trust(component),
            "colour": f"#{bytes(colour).hex()}",
        }
        for name, seeds, size, share, component, colour in zip_longest(
            found.names, found.seeds, found.sizes, found.shares, found.components, colours_of(len(found.names))
        )
    ]
    return {"width": width, "height": height, "segments": segments}


def _trust(component: GaussianComponent | None) -> dict[str, Any]:
    if component is None:
        return {"separation": None, "verdict": "has no seed"}
    lead = component.separation
    return {"separation": lead if math.isfinite(lead) else None, "verdict": verdict(lead)}
