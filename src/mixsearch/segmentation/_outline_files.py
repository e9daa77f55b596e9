"""Outlines of segments as SVG and GeoJSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.segmentation._outlines import Outline
from mixsearch.segmentation._overlay import make_hex_colors

if TYPE_CHECKING:
    from mixsearch.segmentation._labeled_image import LabeledImage

# No XML file may contain these, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def make_outline_file(found: LabeledImage, path: Path, simplify: float) -> str:
    """Return the contents of a file with the outlines of segments, in the format of its suffix.

    Parameters
    ----------
    found : Segmentation
        The segmented image.
    path : Path
        A file that ends in .svg, .geojson or .json.
    simplify : float
        As in `Segmentation.outlines`.

    Returns
    -------
    str
    """
    suffix = path.suffix.lower()
    if suffix == ".svg":
        return found.to_svg(simplify)
    if suffix in (".geojson", ".json"):
        return json.dumps(found.to_geojson(simplify), separators=(",", ":"))
    raise SearchError(
        "Could not write '{path}': outlines are written as SVG or GeoJSON. Use a name that ends in .svg or .geojson.",
        code="unknown_outline_format",
        path=str(path),
        suffix=path.suffix,
    )


def make_svg(outlines: Sequence[Sequence[Outline]], names: Sequence[str], shape: tuple[int, ...]) -> str:
    """Return a drawing with a path for each segment with pixels, titled by its name."""
    height, width = shape
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        '<g fill-rule="evenodd" fill-opacity="0.3" stroke-width="2" stroke-linejoin="round">',
    ]
    for i, (some, name, color) in enumerate(zip(outlines, names, make_hex_colors(len(names)), strict=True), 1):
        if some:
            drawn = f'id="segment-{i}" fill="{color}" stroke="{color}" d="{make_path(some)}"'
            lines.append(f"<path {drawn}><title>{_clean(name)}</title></path>")
    return "\n".join([*lines, "</g>", "</svg>", ""])


def _clean(name: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", name))


def make_path(outlines: Iterable[Outline]) -> str:
    """Return all rings of some outlines as the data of one SVG path, to be filled by the even-odd rule.

    Parameters
    ----------
    outlines : iterable of Outline
        Those of one segment.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> make_path([Outline(np.array([[0, 0], [2, 0], [2, 1], [0, 3]]), ())])
    'M0 0H2V1L0 3Z'
    """
    return "".join(_write_ring(ring) for outline in outlines for ring in (outline.exterior, *outline.holes))


def _write_ring(ring: Array) -> str:
    points = ring.tolist()
    steps = [f"M{points[0][0]} {points[0][1]}"]
    for (x, y), (next_x, next_y) in pairwise(points):
        if y == next_y:
            steps.append(f"H{next_x}")
        elif x == next_x:
            steps.append(f"V{next_y}")
        else:
            steps.append(f"L{next_x} {next_y}")
    return "".join([*steps, "Z"])


def make_geojson(outlines: Sequence[Sequence[Outline]], names: Sequence[str], sizes: Array) -> dict[str, Any]:
    """Return a FeatureCollection with a MultiPolygon for each segment with pixels.

    Notes
    -----
    Exteriors are counterclockwise as numbers, as RFC 7946 wants them; on a screen, where y goes down, clockwise.
    """
    n_pixels = max(int(sizes.sum()), 1)
    features = [
        {
            "type": "Feature",
            "id": i,
            "properties": {"name": name, "color": color, "pixels": int(size), "share": int(size) / n_pixels},
            "geometry": {"type": "MultiPolygon", "coordinates": [_close_rings(outline) for outline in some]},
        }
        for i, (some, name, color, size) in enumerate(
            zip(outlines, names, make_hex_colors(len(names)), sizes, strict=True), 1
        )
        if some
    ]
    return {"type": "FeatureCollection", "features": features}


def _close_rings(outline: Outline) -> list[list[list[int]]]:
    rings = [ring.tolist() for ring in (outline.exterior, *outline.holes)]
    return [[*ring, ring[0]] for ring in rings]
