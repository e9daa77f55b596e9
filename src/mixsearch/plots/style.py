"""Shared by all figures: colors, titles, layout, files."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from mixsearch.confidence import verdict
from mixsearch.display import give_or_take, plain_number
from mixsearch.io.disk import write_atomically

# From the palette of Okabe and Ito, safe for color-blind readers.
FOUND_COLOR = "#0072B2"
HINT_COLOR = "#D55E00"
OTHER_COLOR = "#B8BCC2"
TEXT_COLOR = "#222222"
MUTED_COLOR = "#6B7077"
MEMBERSHIP = LinearSegmentedColormap.from_list("membership", ["#C9CDD2", "#7FB2D6", FOUND_COLOR])
DPI = 150


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure to a file. If writing fails, no partial file is left.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : path
        The suffix sets the format. A file without a suffix is a PNG.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from matplotlib.figure import Figure
    >>> from mixsearch.plots import save_figure
    >>> save_figure(Figure(), mkdtemp() + "/topic.svg").name
    'topic.svg'
    """
    target = Path(path)
    with write_atomically(target) as part, warnings.catch_warnings():
        # Said once for all characters when the figure was drawn.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(part, format=target.suffix[1:] or "png")
    return target


def make_layout() -> ConstrainedLayoutEngine:
    return ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12, wspace=0.06, hspace=0.04)


def describe_separation(separation: float) -> str:
    return f"Separation {plain_number(separation)}: {verdict(separation)}"


def format_percent(share: float, stderr: float | None = None) -> str:
    return f"{100 * share:.1f}%" if stderr is None else f"{give_or_take(100 * share, 100 * stderr)}%"


def set_figure_title(figure: Figure, title: str) -> None:
    figure.suptitle(title, x=0.02, ha="left", fontsize=13, color=TEXT_COLOR)


def set_title(axes: Axes, title: str, line: str) -> None:
    """Write a title with a subtitle, flush left. Words are never parsed as formulas."""
    room = 8 + 12 * (line.count("\n") + 1)
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=TEXT_COLOR, pad=room, parse_math=False)
    axes.annotate(
        line, (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", fontsize=9, color=MUTED_COLOR
    )
