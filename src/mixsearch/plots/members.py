"""Draw the members of a table in the columns that set them apart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from mixsearch._fonts import choose_fonts
from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.plots.style import (
    DPI,
    FOUND_COLOR,
    HINT_COLOR,
    MEMBERSHIP,
    MUTED_COLOR,
    OTHER_COLOR,
    TEXT_COLOR,
    make_layout,
    set_title,
)
from mixsearch.table.columns import Column
from mixsearch.table.component import TableComponent, describe_count

_MAX_PANELS = 4  # on a side
# Dots of more rows would only cover each other.
_MAX_DOTS = 4000
_FEW_DOTS = 1000  # may be larger
_MIN_BINS, _MAX_BINS = 16, 40
# Wild values may lie outside a panel.
_SHOWN_SHARE, _SHOWN_MEMBERS = 0.996, 0.98
_LABEL_LETTERS = 26
_MAX_LISTED = 6
# How examples are marked.
_LIKE: dict[str, Any] = {"marker": "o", "s": 60, "facecolors": "none", "edgecolors": HINT_COLOR, "linewidths": 1.6}
_NOT_LIKE: dict[str, Any] = {"marker": "x", "s": 45, "color": TEXT_COLOR, "linewidths": 1.6}
_RUG: dict[str, Any] = {"marker": "|", "linestyle": "none", "color": HINT_COLOR, "markersize": 10, "clip_on": False}


class _Shown(NamedTuple):
    """The rows of a figure: their values in each column, and what is known of them."""

    columns: dict[str, Column]
    limits: dict[str, tuple[float, float]]
    membership: Array  # (n,)
    is_member: Array  # (n,)
    is_probability: bool
    dots: Array  # rows to draw, likely members last
    like: Array
    not_like: Array


def plot_members(found: TableComponent, columns: Iterable[str] | None = None, *, id: str | None = None) -> Figure:
    """Draw the members of a table among all rows, for each pair of the columns that set them apart most.

    Parameters
    ----------
    found : TableComponent
        As a search returns it.
    columns : iterable of str, optional
        Columns of numbers or dates to draw; by default, up to four.
    id : str, optional
        The column that names the examples in the title. Default: that of the fit.

    Returns
    -------
    matplotlib.figure.Figure
        Dots are rows, colored by membership; of a large table, some of them. Histograms have the same area.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mixsearch
    >>> from mixsearch.plots import plot_members
    >>> found = mixsearch.find(load_iris().data, examples=[0, 7, 21])
    >>> figure = plot_members(found)
    """
    shown = _collect(found, _choose_columns(found, columns))
    names = list(shown.columns)
    side = len(names)
    size = 2.6 * side + 1.6 if side > 1 else 6.5
    figure = Figure(figsize=(size, size if side > 1 else 4.8), dpi=DPI, layout=make_layout())
    grid = figure.subplots(side, side, squeeze=False)
    for i, y in enumerate(names):
        for j, x in enumerate(names):
            axes = grid[i, j]
            if j > i:
                axes.set_axis_off()
                continue
            if i == j:
                _draw_histograms(axes, shown, x)
            else:
                _draw_dots(axes, shown, x, y)
            _set_scale(axes, shown, x, y, is_last=i == side - 1, is_first=j == 0)
    _draw_legend(grid[0, -1], shown)
    set_title(grid[0, 0], *_describe(found, shown, id))
    for line in grid[0, 0].texts:
        line.set_in_layout(False)  # it may be longer than the panel: nothing is beside it
    figure.align_labels()
    choose_fonts(figure)
    return figure


def _choose_columns(found: TableComponent, columns: Iterable[str] | None) -> list[str]:
    if columns is not None:
        return list(dict.fromkeys(columns))
    names = [each.column for each in found.differences() if each.stderr is not None]
    if not names:
        raise SearchError(
            "The table has no column of numbers or dates that could be drawn.",
            code="nothing_to_plot",
        )
    return names[:_MAX_PANELS]


def _collect(found: TableComponent, names: list[str]) -> _Shown:
    columns = {name: found._search._encoder.get_column(found.table, name) for name in names}
    others = [name for name, column in columns.items() if column.kind not in ("number", "date")]
    if others or not names:
        raise SearchError(
            "Only columns of numbers or dates can be drawn, not {columns}.",
            code="nothing_to_plot",
            columns=", ".join(map(repr, others)) or "none",
        )
    membership = found.membership
    is_member = found.predict() if found.is_probability else found._nearest_rows > 0
    examples = np.array([*found.examples, *found.not_examples])
    # Half of them are members, so that a rare group shows.
    halves = (np.flatnonzero(is_member), np.arange(len(membership)))
    dots = np.unique(np.concatenate([rows[:: -(-2 * len(rows) // _MAX_DOTS)] for rows in halves]))
    return _Shown(
        columns,
        {name: _find_limits(column.values, is_member, examples) for name, column in columns.items()},
        membership,
        is_member,
        found.is_probability,
        dots[np.argsort(membership[dots], kind="stable")],
        np.array(found.examples, dtype=np.intp),
        np.array(found.not_examples, dtype=np.intp),
    )


def _find_limits(values: Array, is_member: Array, examples: Array) -> tuple[float, float]:
    """Return limits of an axis that show nearly all rows, nearly all members, and all examples."""
    wanted = [values[examples][np.isfinite(values[examples])]]
    for rows, share in ((values, _SHOWN_SHARE), (values[is_member], _SHOWN_MEMBERS)):
        present, tail = rows[np.isfinite(rows)], (1 - share) / 2
        if len(present):
            wanted.append(np.quantile(present, [tail, 1 - tail], method="closest_observation"))
    low, high = float(np.concatenate(wanted).min()), float(np.concatenate(wanted).max())
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def _draw_dots(axes: Axes, shown: _Shown, x: str, y: str) -> None:
    across, up = shown.columns[x].values, shown.columns[y].values
    dots = shown.dots
    points = axes.scatter(
        across[dots],
        up[dots],
        s=9 if len(dots) <= _FEW_DOTS else 4,
        c=shown.membership[dots],
        cmap=MEMBERSHIP,
        vmin=0,
        vmax=1,
        linewidths=0,
    )
    points.set_rasterized(True)
    axes.scatter(across[shown.not_like], up[shown.not_like], zorder=4, **_NOT_LIKE)
    axes.scatter(across[shown.like], up[shown.like], zorder=4, **_LIKE)
    axes.set_ylim(*shown.limits[y])


def _draw_histograms(axes: Axes, shown: _Shown, name: str) -> None:
    values, limits = shown.columns[name].values, shown.limits[name]
    # Rice's rule.
    n_bins = int(np.clip(2 * len(values) ** (1 / 3), _MIN_BINS, _MAX_BINS))
    bins = np.linspace(*limits, n_bins + 1).tolist()
    inside = (values >= limits[0]) & (values <= limits[1])
    for rows, color, opacity in ((inside, OTHER_COLOR, 0.7), (inside & shown.is_member, FOUND_COLOR, 0.55)):
        if rows.any():
            axes.hist(values[rows], bins=bins, density=True, histtype="stepfilled", color=color, alpha=opacity)
    axes.plot(values[shown.like], np.zeros(len(shown.like)), markeredgewidth=1.6, zorder=4, **_RUG)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.05)


def _set_scale(axes: Axes, shown: _Shown, x: str, y: str, *, is_last: bool, is_first: bool) -> None:
    axes.set_xlim(*shown.limits[x])
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(OTHER_COLOR)
    axes.tick_params(labelsize=9, labelcolor=MUTED_COLOR, color=OTHER_COLOR)
    is_histogram = x == y
    for axis, name in ((axes.xaxis, x), (axes.yaxis, y)):
        if shown.columns[name].kind == "date":
            locator: Any = AutoDateLocator(minticks=2, maxticks=5)  # type: ignore[no-untyped-call]
            axis.set_major_locator(locator)
            axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        else:
            values = shown.columns[name].values
            are_whole = bool(np.all(np.mod(values[np.isfinite(values)], 1) == 0))
            axis.set_major_locator(MaxNLocator(4, integer=are_whole))
    axes.tick_params(labelbottom=is_last, labelleft=is_first and not is_histogram)
    if is_last:
        axes.set_xlabel(textwrap.fill(x, _LABEL_LETTERS), color=TEXT_COLOR, parse_math=False)
    if is_histogram:
        axes.yaxis.set_visible(False)
        axes.spines["left"].set_visible(False)
    elif is_first:
        axes.set_ylabel(textwrap.fill(y, _LABEL_LETTERS), color=TEXT_COLOR, parse_math=False)


def _draw_legend(axes: Axes, shown: _Shown) -> None:
    marks: list[Line2D | Patch] = []

    def mark(label: str, **style: Any) -> None:
        marks.append(Line2D([], [], linestyle="none", markeredgewidth=1.6, label=label, **style))

    if len(shown.columns) == 1:
        mark("Examples", marker="|", color=HINT_COLOR, markersize=10)
    else:
        mark("Examples", marker="o", markerfacecolor="none", markeredgecolor=HINT_COLOR, markersize=8)
        if len(shown.not_like):
            mark("Not like these", marker="x", color=TEXT_COLOR, markersize=7)
    if shown.is_member.any():
        label = "Members" if shown.is_probability else "Most like the examples"
        marks.append(Patch(color=FOUND_COLOR, alpha=0.55, linewidth=0, label=label))
    marks.append(Patch(color=OTHER_COLOR, alpha=0.7, linewidth=0, label="All rows"))
    axes.legend(handles=marks, loc="upper right", frameon=False, fontsize=9, labelcolor=TEXT_COLOR)
    if len(shown.columns) > 1:
        bar_axes = axes.inset_axes((0.2, 0.16, 0.78, 0.05))
        bar = axes.figure.colorbar(ScalarMappable(cmap=MEMBERSHIP), cax=bar_axes, orientation="horizontal")
        bar.set_label(
            "Probability of membership" if shown.is_probability else "Rank, 1 is first", color=TEXT_COLOR, fontsize=9
        )
        bar.outline.set_visible(False)
        bar_axes.tick_params(length=0, labelsize=8, labelcolor=MUTED_COLOR)


def _describe(found: TableComponent, shown: _Shown, id: str | None) -> tuple[str, str]:
    """Return a title and a subtitle."""
    named = found.name_rows(found.examples, id)
    listed = ", ".join(named[:_MAX_LISTED]) + (", ..." if len(named) > _MAX_LISTED else "")
    n_rows = len(shown.membership)
    drawn = f"; {len(shown.dots):,} rows drawn" if len(shown.dots) < n_rows else ""
    return f"Rows like {listed}", f"Members: {describe_count(found.n_members, n_rows)}{drawn}\n{found.check}"
