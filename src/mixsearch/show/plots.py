"""Draw answers with matplotlib: topics, topics over time and by group, members, components, segments.

Every function takes the axes to draw on, or makes new ones with pyplot, and returns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

try:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator, PercentFormatter
except ModuleNotFoundError as error:
    raise ImportError(
        "Plots need matplotlib. Install it with: pip install 'mixsearch[cli]'", name="matplotlib"
    ) from error

from mixsearch._typing import Array, Sparse
from mixsearch.display import format_share, pluralize
from mixsearch.errors import SearchError
from mixsearch.show.fonts import choose_fonts

if TYPE_CHECKING:
    from mixsearch.gaussian import GaussianComponent
    from mixsearch.image.result import Segmentation
    from mixsearch.regression import RegressionComponent
    from mixsearch.table.component import TableComponent
    from mixsearch.topics.groups import TopicGroup, TopicGroups
    from mixsearch.topics.topic import Topic

# The palette of Okabe and Ito, safe for color-blind readers; further topics repeat it with another line.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FOUND_COLOR, HINT_COLOR = COLORS[:2]
OTHER_COLOR, MUTED_COLOR, TEXT_COLOR = "#B8BCC2", "#6B7077", "#222222"
MEMBERSHIP = LinearSegmentedColormap.from_list("membership", ["#C9CDD2", "#7FB2D6", FOUND_COLOR])
_LINES = ("-", "--", ":", "-.")
_MAX_DOTS = 4_000  # more of them would only cover each other
_FEW_VALUES = 10  # columns with fewer values draw as stripes
_INSIDE = (0.002, 0.998)  # quantiles of a column that its axis shows; wild values may lie outside


def plot_topic(topic: Topic, n_words: int = 15, *, ax: Axes | None = None) -> Axes:
    """Draw the words that distinguish the members of a topic.

    Parameters
    ----------
    topic : Topic
        As a search returns it.
    n_words : int, default=15
        The number of words.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on. Default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixsearch import TopicSearch
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.show.plots import plot_topic
    >>> search = TopicSearch(12).fit(make_reviews(500, random_state=0).text)
    >>> ax = plot_topic(search.search("sushi"))
    """
    ax = ax or _make_axes(6, 1 + 0.27 * n_words)
    words = sorted(topic.top_words(n_words), key=lambda item: -item[1])
    bars = ax.barh(range(len(words)), [share for _, share in words], color=FOUND_COLOR, height=0.72)
    ax.bar_label(bars, [f"{share:.0%}" for _, share in words], padding=3, fontsize=8.5, color=MUTED_COLOR)
    ax.set_yticks(range(len(words)), [word for word, _ in words], fontsize=10, color=TEXT_COLOR, parse_math=False)
    ax.set_ylim(len(words) - 0.5, -0.5)
    ax.set_xlim(0, 1.15 * max((share for _, share in words), default=1.0))
    ax.xaxis.set_visible(False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    title = topic.hint.words or ", ".join(word for word, _ in topic.top_words(2))
    return _finish(ax, title, "Words, and how many documents of the topic contain them")


def plot_groups(groups: TopicGroups, *, ax: Axes | None = None) -> Axes:
    """Draw the shares of topics over time or by group.

    Parameters
    ----------
    groups : TopicGroups
        What `TopicIndex.group` returns.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on. Default: new ones.

    Returns
    -------
    matplotlib.axes.Axes
        With lines for periods, numbers and ranges, one for each topic and value of a second column; with bars for
        categories. Of judged topics, 95% intervals are drawn, too.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.show.plots import plot_groups
    >>> from mixsearch.topics import IndexOptions, build_index, open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> ax = plot_groups(open_index(built.path).group("delivery", over="date", every="year"))
    """
    if not groups.topics or not groups.topics[0].groups:
        raise SearchError("There are no topics to draw. Give at least one.", code="nothing_to_plot")
    series = {
        f"{topic.hint}, {name}" if name is not None else topic.hint: [g for g in topic.groups if g.series == name]
        for topic in groups.topics
        for name in dict.fromkeys(group.series for group in topic.groups)
    }
    labels = [group.label for group in next(iter(series.values()))]
    is_category = groups.kind == "category"
    ax = ax or _make_axes(8, 1.6 + 0.3 * len(labels) * len(series) if is_category else 4.5)
    if is_category:
        _draw_bars(ax, series)
        sizes = [group.n_documents for group in next(iter(series.values()))]
        names = [f"{label}  ({size:,})" for label, size in zip(labels, sizes, strict=True)]
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlim(left=0)
        ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    else:
        _draw_lines(ax, series, groups.starts)
        if groups.starts is not None:
            _label_dates(ax.xaxis)
        else:
            ax.xaxis.set_major_locator(MaxNLocator(10, integer=True))
            ax.xaxis.set_major_formatter(lambda at, _: labels[int(at)] if 0 <= at < len(labels) else "")
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.grid(axis="x" if is_category else "y", color=MUTED_COLOR, alpha=0.2, linewidth=0.6)
    missing = f"{groups.n_missing:,} {pluralize(groups.n_missing, 'document')} without a value"
    line = ["Share of the documents", groups.where or "", missing if groups.n_missing else ""]
    title = f"Topics by {groups.by}" if groups.over is None else f"Topics over {groups.over}"
    return _finish(ax, title, "; ".join(filter(None, line)), is_outside=is_category)


def _draw_lines(ax: Axes, series: dict[str, list[TopicGroup]], starts: Sequence[str] | None) -> None:
    for number, (name, groups) in enumerate(series.items()):
        x = np.arange(len(groups)) if starts is None else np.array(starts, dtype="datetime64[D]")
        look: dict[str, Any] = {"linestyle": _LINES[number // len(COLORS) % len(_LINES)], "linewidth": 1.6}
        color, (y, low, high) = COLORS[number % len(COLORS)], _list_shares(groups)
        ax.plot(x, y, color=color, marker="o", markersize=3, label=name, **look)
        if np.isfinite(low).any():
            ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)


def _draw_bars(ax: Axes, series: dict[str, list[TopicGroup]]) -> None:
    height = 0.8 / len(series)
    for number, (name, groups) in enumerate(series.items()):
        places = np.arange(len(groups)) + (number - (len(series) - 1) / 2) * height
        shares, low, high = np.nan_to_num(_list_shares(groups))
        ax.barh(places, shares, height=0.9 * height, color=COLORS[number % len(COLORS)], label=name)
        if high.any():
            ax.hlines(places, low, high, color=TEXT_COLOR, linewidth=1)


def _list_shares(groups: Sequence[TopicGroup]) -> Array:
    """Return the share of each group, or its estimate from judged documents, and the ends of its interval, (3, n)."""
    values = [(g.share if g.estimate is None else g.estimate, g.low, g.high) for g in groups]
    return np.array(values, dtype=np.float64).T


def _label_dates(axis: Any) -> None:
    locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def plot_members(found: TableComponent, columns: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the rows of a table in two columns, colored by membership.

    Parameters
    ----------
    found : TableComponent
        As a search returns it.
    columns : sequence of two str, optional
        Columns of numbers or dates. Default: the two that distinguish the members most.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on. Default: new ones.

    Returns
    -------
    matplotlib.axes.Axes
        With a dot for each row; of a large table, half of the dots are likely members.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mixsearch
    >>> from mixsearch.show.plots import plot_members
    >>> found = mixsearch.find(load_iris().data, examples=[0, 7, 21])
    >>> ax = plot_members(found)
    """
    shown = {name: found._search._encoder.get_column(found.table, name) for name in _select_columns(found, columns)}
    ax = ax or _make_axes(7, 5)
    samples = np.column_stack([column.values for column in shown.values()])
    order = np.argsort(-found.scores, kind="stable")
    likely, others = order[: found.n_members or 0], order[found.n_members or 0 :]
    dots = np.concatenate([rows[:: -(-2 * len(rows) // _MAX_DOTS)] for rows in (others, likely) if len(rows)])
    meaning = "Probability of membership" if found.is_probability else "Rank of the score, 1 is the first"
    _draw_samples(ax, samples[dots], found.membership[dots], meaning)
    _draw_examples(ax, samples[list(found.examples)], samples[list(found.not_examples)])
    for axis, (name, column) in zip((ax.xaxis, ax.yaxis), shown.items(), strict=True):
        if column.kind == "date":
            _label_dates(axis)
        axis.set_label_text(name, parse_math=False)
        axis.set_view_interval(*_find_limits(column.values, [*found.examples, *found.not_examples]), ignore=True)
    counted = "" if found.n_members is None else f"; about {found.n_members:,} of {len(order):,} rows belong to them"
    examples = f"{len(found.examples)} {pluralize(len(found.examples), 'example')}"
    return _finish(ax, f"Rows like {examples}", f"{len(dots):,} rows drawn{counted}")


def _select_columns(found: TableComponent, columns: Sequence[str] | None) -> Sequence[str]:
    """Select two columns of numbers or dates: by default, those that differ most, many-valued ones first."""
    get_column = found._search._encoder.get_column
    if columns is None:
        named = [each.column for each in found.differences() if each.stderr is not None]
        columns = sorted(named, key=lambda name: len(np.unique(get_column(found.table, name).values)) < _FEW_VALUES)[:2]
    others = [name for name in columns if get_column(found.table, name).kind not in ("number", "date")]
    if others or len(columns) != 2:
        raise SearchError(
            "Two columns of numbers or dates can be drawn, not {columns}.",
            code="nothing_to_plot",
            columns=", ".join(map(repr, others or columns)) or "none",
        )
    return columns


def _find_limits(values: Array, examples: Sequence[int]) -> tuple[float, float]:
    """Return limits of an axis that show nearly all rows and all examples."""
    present = values[np.isfinite(values)]
    shown = np.concatenate([np.quantile(present, _INSIDE), values[examples]])
    shown = shown[np.isfinite(shown)]
    margin = 0.05 * np.ptp(shown) or 0.5
    return float(shown.min() - margin), float(shown.max() + margin)


def plot_component(
    found: GaussianComponent, X: ArrayLike | Sparse, labels: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw samples in the plane of a Gaussian, its runner-up and the overall mean, colored by membership.

    Parameters
    ----------
    found : GaussianComponent
        As a search returns it.
    X : array or sparse matrix of shape (n, d)
        The samples to draw.
    labels : array of shape (n,), optional
        1 for examples, which are marked with a ring, as in `fit`.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on. Default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> from mixsearch.show.plots import plot_component
    >>> data = make_gaussian_mixture(500, 10, 3, random_state=0)
    >>> found = GaussianSearch(3).fit(data.X).search(examples=data.X[:1])
    >>> ax = plot_component(found, data.X)
    """
    if not found.alternatives:
        raise SearchError("The component has no alternatives to compare it with.", code="nothing_to_plot")
    rows: Any = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    mean = np.asarray(rows.mean(axis=0)).ravel()
    centers = np.array([found.center, *(other.center for other in found.alternatives)])
    plane, _ = np.linalg.qr(np.column_stack([found.center - centers[1], mean - centers[1]]))
    plane *= np.sign((found.center - mean) @ plane)
    ax = ax or _make_axes(7, 5.6)
    samples = (rows @ plane) - mean @ plane
    places = (centers - mean) @ plane
    _draw_samples(ax, samples, found.membership(rows), "Probability of membership")
    _mark(ax, places[1:], "Other centers", marker="x", s=45, color=MUTED_COLOR)
    _mark(ax, places[:1], "Center found", marker="*", s=300, color=HINT_COLOR, edgecolors="white")
    _draw_examples(ax, samples[_find_examples(labels, len(samples))])
    ax.set_xlabel("From the runner-up to the center found")
    ax.set_ylabel("Orthogonal to it, towards the mean")
    ax.set_aspect("equal", adjustable="datalim")
    line = f"One of {len(found.scores)} components, {format_share(found.weight)} of the mixture"
    return _finish(ax, "A Gaussian among the samples", line)


def plot_regression(
    found: RegressionComponent, X: ArrayLike, y: ArrayLike, labels: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw samples and the line of a regression: against the feature, or against the prediction if there are several.

    Parameters
    ----------
    found : RegressionComponent
        As a search with ``refine=True`` returns it.
    X : array of shape (n, d)
        The samples to draw.
    y : array of shape (n,)
        Their responses.
    labels : array of shape (n,), optional
        1 for examples, which are marked with a ring.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on. Default: new ones.

    Returns
    -------
    matplotlib.axes.Axes
        With a band of 1.96 deviations of the noise to both sides.

    Examples
    --------
    >>> from mixsearch import RegressionSearch
    >>> from mixsearch.datasets import make_mixed_regression
    >>> from mixsearch.show.plots import plot_regression
    >>> data = make_mixed_regression(2000, 3, 2, random_state=0)
    >>> found = RegressionSearch(2).fit(data.X, data.y).search(data.centers[0], refine=True)
    >>> ax = plot_regression(found, data.X, data.y)
    """
    rows, responses = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    predicted, has_one = found.predict(rows), rows.shape[1] == 1
    along = rows[:, 0] if has_one else predicted
    samples = np.column_stack([along, responses])
    ax = ax or _make_axes(7, 5)
    _draw_samples(ax, samples, found.membership(rows, responses), "Probability of membership")
    order = np.argsort(along)
    noise = 1.96 * np.sqrt(found.noise_variance)
    band = predicted[order] - noise, predicted[order] + noise
    ax.fill_between(along[order], *band, color=FOUND_COLOR, alpha=0.12, linewidth=0, label="95% of members")
    ax.plot(along[order], predicted[order], color=HINT_COLOR, linewidth=1.4, label="Line found")
    _draw_examples(ax, samples[_find_examples(labels, len(rows))])
    ax.set_xlabel("Feature" if has_one else "Prediction")
    ax.set_ylabel("Response")
    line = "For all samples" if len(found.scores) == 1 else f"One of {len(found.scores)} regressions"
    return _finish(ax, "A regression among the samples", f"{line}, {format_share(found.weight)} of the samples")


def plot_segments(found: Segmentation, opacity: float = 0.5, *, ax: Axes | None = None) -> Axes:
    """Draw an image with its segments tinted, a cross on each seed, and a legend of their names.

    Parameters
    ----------
    found : Segmentation
        What `segment` returns.
    opacity : float, default=0.5
        The opacity of the tint, from 0 to 1.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on. Default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import mixsearch
    >>> from mixsearch.datasets import make_landscape
    >>> from mixsearch.show.plots import plot_segments
    >>> scene = make_landscape(80, 120, random_state=0)
    >>> ax = plot_segments(mixsearch.segment(scene.image, scene.seeds))
    """
    from mixsearch.image.files import make_hex_colors  # loads scikit-image, which other plots do not need

    height, width = found.labels.shape
    ax = ax or _make_axes(7, 0.6 + 7 * height / width)
    ax.imshow(found.overlay(opacity))
    colors = make_hex_colors(len(found.names))
    named = zip(found.names, found.shares, colors, strict=True)
    handles = [Patch(color=color, label=f"{name}, {share:.0%}") for name, share, color in named]
    ax.set_axis_off()
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False, fontsize=9)
    return ax


def _make_axes(width: float, height: float) -> Axes:
    from matplotlib import pyplot  # global state, which is touched only if no axes are given

    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    return ax


def _draw_samples(ax: Axes, samples: Array, membership: Array, meaning: str) -> None:
    """Draw dots colored by membership, likely members on top, with a color bar."""
    order = np.argsort(membership, kind="stable")
    size = 9 if len(order) <= _MAX_DOTS // 4 else 5
    x, y = samples[order].T
    dots = ax.scatter(x, y, s=size, c=membership[order], cmap=MEMBERSHIP, vmin=0, vmax=1, linewidths=0)
    dots.set_rasterized(True)
    bar = ax.figure.colorbar(dots, ax=ax, shrink=0.8, pad=0.02)
    bar.set_label(meaning, color=TEXT_COLOR)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=9, labelcolor=MUTED_COLOR)


def _find_examples(labels: ArrayLike | None, n_samples: int) -> Array:
    known = np.zeros(n_samples) if labels is None else np.asarray(labels).ravel()
    if len(known) != n_samples:
        raise SearchError(
            "There are {n_labels} labels for {n_samples} samples. Give one label per sample.",
            code="bad_labels",
            n_labels=len(known),
            n_samples=n_samples,
        )
    return np.flatnonzero(known == 1)


def _draw_examples(ax: Axes, examples: Array, not_examples: Array | None = None) -> None:
    if len(examples):
        _mark(ax, examples, "Examples", s=70, facecolors="none", edgecolors=HINT_COLOR, linewidths=1.6)
    if not_examples is not None and len(not_examples):
        _mark(ax, not_examples, "Not examples", marker="x", s=45, color=TEXT_COLOR)


def _mark(ax: Axes, points: Array, label: str, **look: Any) -> None:
    x, y = points.T
    ax.scatter(x, y, zorder=3, label=label, **look)


def _finish(ax: Axes, title: str, line: str, *, is_outside: bool = False) -> Axes:
    """Add title, subtitle and legend, which are never read as formulas, and choose fonts that have all letters."""
    title_font: dict[str, Any] = {"fontsize": 12, "fontweight": "bold", "color": TEXT_COLOR}
    ax.set_title(title, loc="left", pad=22, parse_math=False, **title_font)
    below: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    subtitle = ax.annotate(line, (0, 1), (0, 7), fontsize=9, color=MUTED_COLOR, parse_math=False, **below)
    subtitle.set_in_layout(False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(OTHER_COLOR)
    ax.tick_params(labelsize=9, labelcolor=TEXT_COLOR, color=OTHER_COLOR)
    if ax.get_legend_handles_labels()[1]:
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1)} if is_outside else {"loc": "best"}
        legend = ax.legend(frameon=True, framealpha=0.8, edgecolor="none", fontsize=9, **place)
        for text in legend.get_texts():
            text.set_parse_math(False)
    choose_fonts(ax.figure.figure)
    return ax
