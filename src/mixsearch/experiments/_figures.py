"""The style of figures: a color for each method, grouped bars, error bars of one standard error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mixsearch._typing import Array
from mixsearch.plots import MUTED_COLOR, TEXT_COLOR

FAINT = "#D5D8DC"
# From the palette of Okabe and Ito, safe for color-blind readers; blue for searches.
COLORS = {
    "whitening": "#0072B2",
    "whitening, with its confidence": "#6BAED6",
    "refined": "#003B5C",
    "cancellation": "#56B4E9",
    "cancellation, as printed": "#B3DDF5",
    "Fast-TPM": "#E69F00",
    "TPM": "#D55E00",
    "TPM by the mean": "#CC79A7",
    "k-means": "#D55E00",
    "EM": "#D55E00",
    "NMF": "#E69F00",
    "SS-NMF": "#D55E00",
    "random walker": "#009E73",
    "oracle": "#8A9099",
}
OTHERS = ("#009E73", "#CC79A7", "#F0E442", "#999999")
_WIDTH = 0.84  # of a group of bars, in units of the distance between groups


class Estimate(NamedTuple):
    """A number and its standard error."""

    value: float
    stderr: float


def choose_color(method: str, index: int = 0) -> str:
    """Return the color of a method, by its name or by the word before a comma."""
    return COLORS.get(method) or COLORS.get(method.partition(",")[0]) or OTHERS[index % len(OTHERS)]


def new_figure(title: str, n_rows: int = 1, n_columns: int = 1, size: tuple[float, float] = (4.2, 3.2)) -> Figure:
    """Make a figure for a grid of panels of the given size in inches."""
    figure = Figure(figsize=(size[0] * n_columns, 0.6 + size[1] * n_rows), dpi=150, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, color=TEXT_COLOR)
    return figure


def style_axes(axes: Axes, title: str, x: str = "", y: str = "") -> None:
    """Set the title and labels of axes, and mute their frame and grid."""
    axes.set_title(title, loc="left", fontsize=10, color=TEXT_COLOR)
    axes.set_xlabel(x, fontsize=9, color=TEXT_COLOR)
    axes.set_ylabel(y, fontsize=9, color=TEXT_COLOR)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, labelcolor=MUTED_COLOR, color=FAINT)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)


class Bars(NamedTuple):
    """A series with one bar in each group."""

    name: str
    color: str
    heights: Sequence[Estimate]
    opacity: float = 1.0


def draw_bars(axes: Axes, groups: Sequence[str], series: Sequence[Bars]) -> None:
    """Draw grouped bars with error bars of one standard error."""
    width = _WIDTH / len(series)
    for index, bars in enumerate(series):
        centers = np.arange(len(groups)) + (index + 0.5) * width - _WIDTH / 2
        heights, errors = np.array(bars.heights, dtype=np.float64).reshape(-1, 2).T
        axes.bar(centers, heights, width, color=bars.color, alpha=bars.opacity, label=bars.name, linewidth=0)
        axes.errorbar(centers, heights, errors, fmt="none", ecolor=TEXT_COLOR, elinewidth=0.8)
    axes.set_xticks(range(len(groups)), list(groups))


def add_shared_legend(figure: Figure, panels: Iterable[Axes], n_columns: int = 6) -> None:
    """Add one legend below all panels, with fewer columns where it would be too wide."""
    known = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    while True:
        legend = figure.legend(
            known.values(),
            known,
            loc="outside lower left",
            ncols=n_columns,
            frameon=False,
            fontsize=9,
            labelcolor=TEXT_COLOR,
        )
        if n_columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()
        n_columns = (n_columns + 1) // 2


def compute_ratio(ours: Array, theirs: Array) -> Estimate:
    """Return mean(ours) / mean(theirs) of paired values, (n,), with its jackknife standard error."""
    n, ratio = len(ours), float(ours.mean() / theirs.mean())
    if n < 2:
        return Estimate(ratio, float("nan"))
    without = (ours.sum() - ours) / (theirs.sum() - theirs)
    return Estimate(ratio, float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))))
