"""Draw topics over time and by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from mixsearch._fonts import choose_fonts
from mixsearch._typing import Array
from mixsearch.display import pluralize
from mixsearch.errors import SearchError
from mixsearch.index.groups import GroupedTopic, TopicGroups
from mixsearch.plots.style import DPI, FOUND_COLOR, HINT_COLOR, MUTED_COLOR, TEXT_COLOR, make_layout, set_title

# From the palette of Okabe and Ito, safe for color-blind readers; further topics repeat them with another line.
_COLORS = (FOUND_COLOR, HINT_COLOR, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES = ("-", "--", ":", "-.")
_MAX_LABEL = 40
_MAX_TICKS = 12
_MAX_LEGEND_COLUMNS = 3
_MAX_MARKERS = 60
_NORMAL_95 = 1.96
# Groups with fewer documents, in parts of the mean, have intervals too wide to set the scale, if that is this much
# larger with them.
_MIN_PART, _MIN_STRETCH = 0.1, 1.3


def plot_groups(found: TopicGroups) -> Figure:
    """Draw the shares of topics over time or by group, with their 95% intervals.

    Parameters
    ----------
    found : TopicGroups
        What `TopicIndex.group` returns.

    Returns
    -------
    matplotlib.figure.Figure
        Lines with bands for periods, numbers and ranges; bars with whiskers for categories.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, open_index
    >>> from mixsearch.plots import plot_groups
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> figure = plot_groups(open_index(built.path).group("delivery", over="date", every="year"))
    """
    if not found.topics or not found.labels:
        raise SearchError("There are no topics to draw. Give at least one.", code="nothing_to_plot")
    if found.kind == "category":
        n_bars = len(found.labels) * len(found.topics)
        figure = Figure(figsize=(9, 1.6 + 0.24 * n_bars + 0.12 * len(found.labels)), dpi=DPI, layout=make_layout())
        axes = figure.subplots()
        _draw_bars(axes, found)
    else:
        figure = Figure(figsize=(9, 6.5 if _knows_words(found) else 4.5), dpi=DPI, layout=make_layout())
        axes = _draw_panels(figure, found)
    marks = ("thin", "thick") if found.kind == "category" else ("light", "dark")
    what = f"Mean share of a document; {marks[0]}: 95% interval, {marks[1]}: for comparing groups"
    title = f"Topics {'by' if found.kind == 'category' else 'over'} {found.column}"
    set_title(axes, title, "; ".join([what, *_describe(found)]))
    look: dict[str, Any] = {"frameon": False, "fontsize": 9, "labelcolor": TEXT_COLOR}
    if found.kind == "category":  # whiskers may be anywhere in the axes
        figure.legend(loc="outside lower left", ncols=min(len(found.topics), _MAX_LEGEND_COLUMNS), **look)
    else:
        axes.legend(**look)
    choose_fonts(figure)
    return figure


def _describe(found: TopicGroups) -> list[str]:
    missing = f"{found.n_missing:,} {pluralize(found.n_missing, 'document')} without a value"
    is_cut = found.kind == "category" and _find_highs(found).max() > _find_limit(found)
    return [
        *(["arrow: ends beyond the axis"] if is_cut else []),
        *([found.where] if found.where else []),
        *([missing] if found.n_missing else []),
    ]


def _knows_words(found: TopicGroups) -> bool:
    """Return whether it is known for all topics how many documents contain the words of the hint."""
    return all(group.n_holding is not None for topic in found.topics for group in topic.groups)


def _draw_panels(figure: Figure, found: TopicGroups) -> Axes:
    """Draw the shares and, if known, which part of the documents contains the words; return the axes of the shares."""
    if not _knows_words(found):
        axes: Axes = figure.subplots()
        _draw_lines(axes, found, list(map(_read, found.topics)))
        return axes
    below: Axes
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    _draw_lines(axes, found, list(map(_read, found.topics)))
    _draw_lines(below, found, list(map(_read_holding, found.topics)), is_estimate=False)
    set_title(below, "Words", "documents that contain the words of the hint")
    return axes


def _draw_lines(
    axes: Axes, found: TopicGroups, series: Sequence[tuple[Array, Array, Array]], *, is_estimate: bool = True
) -> None:
    """Draw a line for each topic, with bands if it is an estimate."""
    positions = _place(found)
    for j, (topic, (share, low, high)) in enumerate(zip(found.topics, series, strict=True)):
        color, line = _COLORS[j % len(_COLORS)], _LINES[j // len(_COLORS) % len(_LINES)]
        axes.fill_between(positions, low, high, color=color, alpha=0.12, linewidth=0)
        inner = _NORMAL_95 * np.array([group.stderr for group in topic.groups], dtype=np.float64)
        if is_estimate:
            bounds = np.maximum(share - inner, low), np.minimum(share + inner, high)
            axes.fill_between(positions, *bounds, color=color, alpha=0.2, linewidth=0)
        marker = "o" if len(positions) <= _MAX_MARKERS else None
        axes.plot(positions, share, line, color=color, marker=marker, markersize=3.5, linewidth=1.6, label=topic.hint)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    if found.starts is not None:
        # matplotlib finds the ticks of dates by itself.
        axes.margins(x=0.02)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(_MAX_TICKS, integer=True))
        axes.xaxis.set_major_formatter(lambda at, _: found.labels[int(at)] if 0 <= at < len(found.labels) else "")
    _style(axes)
    axes.grid(axis="y", color=MUTED_COLOR, alpha=0.2, linewidth=0.6)


def _find_highs(found: TopicGroups) -> Array:
    """Return the upper end of the widest interval of each group, over all topics."""
    return np.asarray(np.max([np.nan_to_num(_read(topic)[2]) for topic in found.topics], axis=0))


def _find_limit(found: TopicGroups) -> float:
    """Return the end of the axis of shares: that of all intervals but those of tiny groups which would stretch it."""
    highs = _find_highs(found)
    sizes = np.array([group.n_documents for group in found.topics[0].groups])
    needed = float(highs[sizes >= _MIN_PART * sizes[sizes > 0].mean()].max()) if sizes.any() else 0.0
    largest = float(highs.max())
    return 1.05 * (needed if 0 < _MIN_STRETCH * needed < largest else largest) or 1.0


def _draw_bars(axes: Axes, found: TopicGroups) -> None:
    n_topics, n_groups = len(found.topics), len(found.labels)
    height, limit = 0.8 / n_topics, _find_limit(found)
    for j, topic in enumerate(found.topics):
        share, low, high = (np.nan_to_num(each) for each in _read(topic))
        whiskers = {"elinewidth": 0.9, "ecolor": TEXT_COLOR, "capsize": 2, "capthick": 0.9}
        inner = _NORMAL_95 * np.array([group.stderr or 0.0 for group in topic.groups])
        places = np.arange(n_groups) + (j - (n_topics - 1) / 2) * height
        axes.hlines(
            places,
            np.maximum(share - inner, low),
            np.minimum(share + inner, high),
            color=TEXT_COLOR,
            linewidth=3,
            zorder=3,
        )
        axes.barh(
            places,
            share,
            height=0.9 * height,
            color=_COLORS[j % len(_COLORS)],
            xerr=np.stack([share - low, high - share]),
            error_kw=whiskers,
            label=topic.hint,
        )
        beyond = places[high > limit]
        arrow: dict[str, Any] = {
            "marker": ">",
            "markersize": 6,
            "color": TEXT_COLOR,
            "linestyle": "",
            "clip_on": False,
            "zorder": 4,
        }
        axes.plot(np.full(len(beyond), limit), beyond, **arrow, label="_beyond the axis")
    sizes = [group.n_documents for group in found.topics[0].groups]
    names = [f"{_shorten(label)}  ({size:,})" for label, size in zip(found.labels, sizes, strict=True)]
    axes.set_yticks(range(n_groups), names, fontsize=9.5, color=TEXT_COLOR, parse_math=False)
    axes.set_ylim(n_groups - 0.5, -0.5)
    axes.set_xlim(0, limit)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    _style(axes)
    axes.grid(axis="x", color=MUTED_COLOR, alpha=0.2, linewidth=0.6)


def _place(found: TopicGroups) -> Array:
    """Return where groups are on the axis: on their first day, or in their order."""
    if found.starts is not None:
        return np.array(found.starts, dtype="datetime64[D]")
    return np.arange(len(found.labels))


def _read(topic: GroupedTopic) -> tuple[Array, Array, Array]:
    """Return the shares and the ends of their intervals; NaN for groups without documents."""
    share, low, high = np.array([(each.share, each.low, each.high) for each in topic.groups], dtype=np.float64).T
    return share, low, high


def _read_holding(topic: GroupedTopic) -> tuple[Array, Array, Array]:
    """Return which part of the documents contains the words, three times: it is no estimate."""
    rows = [(group.n_holding or 0, group.n_documents or np.nan) for group in topic.groups]
    n_holding, n_documents = np.array(rows, dtype=np.float64).T
    part = n_holding / n_documents
    return part, part, part


def _shorten(label: str) -> str:
    return label if len(label) <= _MAX_LABEL else f"{label[:_MAX_LABEL]}…"


def _style(axes: Axes) -> None:
    axes.tick_params(length=0, labelcolor=TEXT_COLOR, labelsize=9)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(MUTED_COLOR)
