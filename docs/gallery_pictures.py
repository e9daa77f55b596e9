"""Show the figures of examples in the gallery."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def save_pictures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figure that a block of an example ends with, and return the directive that shows it."""
    lines = block[1].strip().splitlines()
    figure = block_vars["example_globals"].get(lines[-1]) if lines else None
    if not isinstance(figure, Figure):
        return ""
    path = Path(next(block_vars["image_path_iterator"]))
    figure.savefig(path, dpi=100)
    return figure_rst([str(path)], gallery_conf["src_dir"])


def _get_sg_image_scraper() -> Any:
    """Return the scraper: sphinx-gallery looks for a function of this name."""
    return save_pictures
