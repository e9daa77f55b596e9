"""Draw the words of topics."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import zip_longest

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mixsearch._fonts import choose_fonts
from mixsearch.display import plain_chance
from mixsearch.errors import SearchError
from mixsearch.plots.style import (
    DPI,
    FOUND_COLOR,
    HINT_COLOR,
    MUTED_COLOR,
    OTHER_COLOR,
    TEXT_COLOR,
    describe_separation,
    format_percent,
    make_layout,
    set_figure_title,
    set_title,
)
from mixsearch.topics.component import Topic

_PANELS_PER_ROW = 3
_PANEL_LETTERS = 38  # per line of a panel's subtitle
_MAX_ALTERNATIVES = 4


def plot_topic(topic: Topic, n_words: int = 15, errors: bool = False) -> Figure:
    """Draw the most typical words of a topic, and its alternatives.

    Parameters
    ----------
    topic : Topic
        As a search returns it.
    n_words : int, default=15
        The number of words.
    errors : bool, default=False
        Show error bars of one standard error, and the confidence.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from mixsearch import TopicSearch
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.plots import plot_topic
    >>> search = TopicSearch(12).fit(make_reviews(500, random_state=0).text)
    >>> figure = plot_topic(search.search("sushi"))
    """
    figure = Figure(figsize=(9, 1.5 + 0.27 * n_words), dpi=DPI, layout=make_layout())
    words, shares = figure.subplots(1, 2, width_ratios=[3, 2])
    _draw_words(words, topic, n_words, hint=(), errors=errors)
    weight = format_percent(topic.weight, topic.stderr.weight if errors else None)
    set_title(words, "Typical words", f"{weight} of the corpus{'; whiskers: one standard error' if errors else ''}")
    _draw_shares(shares, topic)
    shares.set_ylim(max(words.get_ylim()[0], shares.get_ylim()[0]), -0.5)  # bars as thick as those of the words
    set_figure_title(figure, ". ".join(_describe(topic, errors)))
    choose_fonts(figure)
    return figure


def plot_topics(topics: Mapping[str, Topic], n_words: int = 8, errors: bool = False) -> Figure:
    """Draw several topics, one panel for each hint.

    Parameters
    ----------
    topics : mapping of str to Topic
        The topics by their hints. Words of the hint have a different color.
    n_words : int, default=8
        The number of words of each topic.
    errors : bool, default=False
        Show error bars of one standard error, and the confidence.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from mixsearch import TopicSearch
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.plots import plot_topics
    >>> search = TopicSearch(12).fit(make_reviews(500, random_state=0).text)
    >>> figure = plot_topics({word: search.search(word) for word in ("sushi", "pizza")})
    """
    if not topics:
        raise SearchError("There are no topics to draw. Give at least one.", code="nothing_to_plot")
    n_columns = min(len(topics), _PANELS_PER_ROW)
    n_rows = -(-len(topics) // n_columns)
    size = (max(4.2 * n_columns, 6.0), 0.5 + n_rows * (1.1 + 0.27 * n_words))
    figure = Figure(figsize=size, dpi=DPI, layout=make_layout())
    panels = figure.subplots(n_rows, n_columns, squeeze=False).flat
    for panel, item in zip_longest(panels, topics.items()):
        if item is None:
            panel.set_axis_off()
            continue
        hint, topic = item
        _draw_words(panel, topic, n_words, hint=hint.split(), errors=errors)
        lines = _describe(topic, errors)
        set_title(panel, hint, "\n".join(textwrap.fill(line, _PANEL_LETTERS) for line in lines))
    whiskers = ". Whiskers: one standard error" if errors else ""
    set_figure_title(figure, f"Topics by their hints (words of the hint in orange){whiskers}")
    choose_fonts(figure)
    return figure


def _describe(topic: Topic, errors: bool) -> list[str]:
    confidence = [f"Confidence {plain_chance(topic.confidence)}"] if errors else []
    return [describe_separation(topic.separation), *confidence]


def _draw_words(axes: Axes, topic: Topic, n_words: int, *, hint: Sequence[str], errors: bool) -> None:
    words = topic.word_table(n_words, errors=errors)
    colors = [HINT_COLOR if each.word in hint else FOUND_COLOR for each in words]
    whiskers = [each.stderr for each in words if each.stderr is not None] if errors else None
    _draw_bars(axes, [each.word for each in words], [each.probability for each in words], colors, whiskers)


def _draw_shares(axes: Axes, topic: Topic) -> None:
    others = sorted(topic.alternatives, key=lambda other: -other.share)[:_MAX_ALTERNATIVES]
    names = [", ".join(word for word, _ in each.top_words(2)) for each in (topic, *others)]
    _draw_bars(axes, names, [each.share for each in (topic, *others)], [FOUND_COLOR, *[OTHER_COLOR] * len(others)])
    set_title(axes, "Share of the hint", "found, and its strongest alternatives")


def _draw_bars(
    axes: Axes,
    names: Sequence[str],
    lengths: Sequence[float],
    colors: Sequence[str],
    whiskers: Sequence[float] | None = None,
) -> None:
    """Draw horizontal bars from top to bottom, labeled with their values instead of an axis."""
    thin = {"elinewidth": 0.9, "ecolor": TEXT_COLOR, "capsize": 2, "capthick": 0.9}
    bars = axes.barh(range(len(names)), lengths, color=colors, height=0.72, xerr=whiskers, error_kw=thin)
    labels = list(map(format_percent, lengths) if whiskers is None else map(format_percent, lengths, whiskers))
    axes.bar_label(bars, labels, padding=3, fontsize=8.5, color=MUTED_COLOR)
    axes.set_yticks(range(len(names)), list(names), fontsize=10, color=TEXT_COLOR, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    ends = np.add(lengths, whiskers or 0.0)
    axes.set_xlim(0, (1.18 if whiskers is None else 1.35) * ends.max(initial=1e-12))
    axes.xaxis.set_visible(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
