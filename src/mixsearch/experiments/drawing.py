"""How pictures of experiments look: a colour for each method, bars in groups, whiskers of one standard error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mixsearch._typing import Array
from mixsearch.plots import MUTED_COLOR, TEXT_COLOR

FAINT = "#D5D8DC"
# Of the palette of Okabe and Ito, which colour-blind readers can tell apart; blue for what is ours.
COLOURS = {
    "whitening": "#0072B2",
    "refined": "#003B5C",
    "cancellation": "#56B4E9",
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
_WIDTH = 0.84  # of a group of bars, as a part of its place


class Estimate(NamedTuple):
    """A number and its standard error."""

    value: float
    stderr: float


def colour_of(method: str, number: int = 0) -> str:
    """The colour of a method: by its name, or by the word before a comma."""
    return COLOURS.get(method) or COLOURS.get(method.partition(",")[0]) or OTHERS[number % len(OTHERS)]


def new_figure(title: str, n_rows: int = 1, n_columns: int = 1, size: tuple[float, float] = (4.2, 3.2)) -> Figure:
    """A figure with room for a grid of panels of the given size in inches."""
    figure = Figure(figsize=(size[0] * n_columns, 0.6 + size[1] * n_rows), dpi=150, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, color=TEXT_COLOR)
    return figure


def style_axes(axes: Axes, title: str, x: str = "", y: str = "") -> None:
    """A quiet frame, a grid behind the data, names on the axes."""
    axes.set_title(title, loc="left", fontsize=10, color=TEXT_COLOR)
    axes.set_xlabel(x, fontsize=9, color=TEXT_COLOR)
    axes.set_ylabel(y, fontsize=9, color=TEXT_COLOR)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, labelcolor=MUTED_COLOR, color=FAINT)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)


class Bars(NamedTuple):
    """One bar in each group."""

    name: str
    colour: str
    heights: Sequence[Estimate]
    opacity: float = 1.0


def draw_bars(axes: Axes, groups: Sequence[str], series: Sequence[Bars]) -> None:
    """Bars side by side, in a group for each name, with whiskers of one standard error."""
    width = _WIDTH / len(series)
    for place, bars in enumerate(series):
        centers = np.arange(len(groups)) + (place + 0.5) * width - _WIDTH / 2
        heights, errors = np.array(bars.heights, dtype=np.float64).reshape(-1, 2).T
        axes.bar(centers, heights, width, color=bars.colour, alpha=bars.opacity, label=bars.name, linewidth=0)
        axes.errorbar(centers, heights, errors, fmt="none", ecolor=TEXT_COLOR, elinewidth=0.8)
    axes.set_xticks(range(len(groups)), list(groups))


def share_legend(figure: Figure, panels: Iterable[Axes], n_columns: int = 6) -> None:
    """One legend under all panels, of whatever any of them shows."""
    known = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(
        known.values(),
        known,
        loc="outside lower left",
        ncols=n_columns,
        frameon=False,
        fontsize=9,
        labelcolor=TEXT_COLOR,
    )


def ratio_of_means(ours: Array, theirs: Array) -> Estimate:
    """mean(ours) / mean(theirs) of paired values, (n,), with the standard error of leaving one pair out at a time."""
    n, ratio = len(ours), float(ours.mean() / theirs.mean())
    if n < 2:
        return Estimate(ratio, float("nan"))
    without = (ours.sum() - ours) / (theirs.sum() - theirs)
    return Estimate(ratio, float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))))
