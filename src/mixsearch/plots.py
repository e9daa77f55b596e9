"""Pictures of answers: the words of topics, the samples of a Gaussian."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rank_selection import Spectrum
from mixsearch.core.separation import verdict
from mixsearch.display import give_or_take, plain_chance, plain_number
from mixsearch.errors import SearchError
from mixsearch.gaussian import GaussianComponent
from mixsearch.storage.disk import written_whole
from mixsearch.topics import Topic

try:
    # Figures made without pyplot touch no global state and need no screen.
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.ticker import MaxNLocator
except ModuleNotFoundError as error:
    raise ImportError("Pictures need matplotlib: pip install 'mixsearch[plot]'", name="matplotlib") from error

# Of the palette of Okabe and Ito, which colour-blind readers can tell apart.
FOUND = "#0072B2"
HINT = "#D55E00"
OTHER = "#B8BCC2"
TEXT = "#222222"
QUIET = "#6B7077"
MEMBERSHIP = LinearSegmentedColormap.from_list("membership", ["#C9CDD2", "#7FB2D6", FOUND])

_DPI = 150
_PANELS_PER_ROW = 3
_PANEL_LETTERS = 38  # of a subtitle, in a panel
_N_ALTERNATIVES = 4
_N_NOISE = 12  # directions of noise beside those that count


def plot_topic(topic: Topic, n_words: int = 15, errors: bool = False) -> Figure:
    """Draw the typical words of a topic, and the topics that the hint could have meant instead.

    Parameters
    ----------
    topic : Topic
    n_words : int
        How many words to show.
    errors : bool
        Add a whisker of one standard error to each bar, and the confidence.

    Returns
    -------
    Figure
    """
    figure = Figure(figsize=(9, 1.5 + 0.27 * n_words), dpi=_DPI, layout=_roomy())
    words, shares = figure.subplots(1, 2, width_ratios=[3, 2])
    _draw_words(words, topic, n_words, hint=(), errors=errors)
    weight = _percent(topic.weight, topic.stderr.weight if errors else None)
    _title(words, "Typical words", f"{weight} of the corpus{'; whiskers: one standard error' if errors else ''}")
    _draw_shares(shares, topic)
    shares.set_ylim(max(words.get_ylim()[0], shares.get_ylim()[0]), -0.5)  # bars as thick as those of the words
    _figure_title(figure, _lead(topic.separation) + (f". {_surely(topic)}" if errors else ""))
    return figure


def plot_topics(topics: Mapping[str, Topic], n_words: int = 8, errors: bool = False) -> Figure:
    """Draw several topics beside each other, one panel for each hint.

    Parameters
    ----------
    topics : mapping of str to Topic
        The topics by the words that they were found from. Those words are set off where they are typical.
    n_words : int
        How many words of each topic to show.
    errors : bool
        Add a whisker of one standard error to each bar, and the confidence.

    Returns
    -------
    Figure
    """
    if not topics:
        raise SearchError("Found no topic to draw, needed at least 1.")
    n_columns = min(len(topics), _PANELS_PER_ROW)
    n_rows = -(-len(topics) // n_columns)
    size = (max(4.2 * n_columns, 6.0), 0.5 + n_rows * (1.1 + 0.27 * n_words))
    figure = Figure(figsize=size, dpi=_DPI, layout=_roomy())
    panels = figure.subplots(n_rows, n_columns, squeeze=False).flat
    for panel, item in zip_longest(panels, topics.items()):
        if item is None:
            panel.set_axis_off()
            continue
        hint, topic = item
        _draw_words(panel, topic, n_words, hint=hint.split(), errors=errors)
        lines = [_lead(topic.separation), _surely(topic)] if errors else [_lead(topic.separation)]
        _title(panel, hint, "\n".join(textwrap.fill(line, _PANEL_LETTERS) for line in lines))
    whiskers = ". Whiskers: one standard error" if errors else ""
    _figure_title(figure, f"Topics by their hints (orange, where among the typical words){whiskers}")
    return figure


def plot_component(found: GaussianComponent, X: Any, labels: Any = None) -> Figure:
    """Draw samples where a Gaussian and its runner-up differ most, coloured by membership.

    Parameters
    ----------
    found : GaussianComponent
    X : array or sparse matrix of shape (n, d)
        The samples to draw.
    labels : array of shape (n,), optional
        1 for the known members, as `fit` takes them: they are ringed.

    Returns
    -------
    Figure

    Notes
    -----
    The centers are orthogonal in the whitened space. Of the coordinates along the center found and along the
    runner-up's, the first therefore tells the component apart from all others, the second its strongest rival.
    """
    plane = _telling_plane(found)
    membership = found.membership(X)
    samples = found.frame.whiten(X) @ plane
    known = _known_members(labels, len(samples))
    figure = Figure(figsize=(7.5, 7), dpi=_DPI, layout=_roomy())
    axes = figure.add_subplot()
    _draw_samples(figure, axes, samples, membership)
    _draw_centers(axes, found, plane)
    _draw_known(axes, samples[known])
    _title(
        axes, _lead(found.separation), f"One of {len(found.scores)} components, {_percent(found.weight)} of the mixture"
    )
    axes.set_xlabel("Along the center found", color=TEXT)
    axes.set_ylabel("Along the runner-up", color=TEXT)
    axes.legend(loc="upper right", frameon=False, fontsize=9, labelcolor=TEXT)
    return figure


def plot_spectrum(shown: Any) -> Figure:
    """Draw the spectrum of a fit: which directions carry signal, or where eigenvalues level off.

    Parameters
    ----------
    shown : fitted search, Spectrum, or sequence of float
        A search fitted with ``n_components="auto"``, or its `spectrum_`: the directions on the samples that they were
        found on and on others, and which of them count. Of any other search, and of eigenvalues as `Frame.values` has
        them, the eigenvalues alone.

    Returns
    -------
    Figure
    """
    spectrum = getattr(shown, "spectrum_", shown)
    if not isinstance(spectrum, Spectrum):
        return _plot_eigenvalues(_eigenvalues(shown))
    if not len(spectrum.counts):
        raise SearchError("Found a spectrum of no directions, needed at least 1: samples of one feature have none.")
    figure = Figure(figsize=(7.5, 4.6), dpi=_DPI, layout=_roomy())
    axes = figure.subplots()
    n_shown = min(len(spectrum.counts), max(2 * spectrum.n_signal, spectrum.n_signal + _N_NOISE))
    _draw_spectrum(axes, spectrum, np.arange(n_shown))
    what = "component" if spectrum.n_components == 1 else "components"
    _title(
        axes,
        f"{spectrum.n_components} {what}: {spectrum.n_signal} of {len(spectrum.counts)} directions count",
        "Directions found on two thirds of the samples, and what is left of them on the last third",
    )
    _draw_grid(axes)
    return figure


def _draw_spectrum(axes: Axes, spectrum: Spectrum, which: Array) -> None:
    place, counts = which + 1, spectrum.counts[which]
    found, held, error = spectrum.found[which], spectrum.held_out[which], spectrum.stderr[which]
    least = np.maximum(spectrum.threshold * error, spectrum.least_held * found)
    lowest = 1.2 * float((held - 2 * error).min(initial=0.0))
    axes.fill_between(
        place, lowest, least, step="mid", color=OTHER, alpha=0.3, linewidth=0, label="Too little to count"
    )
    axes.axhline(0, color=OTHER, linewidth=0.8)
    axes.plot(place, found, "o-", color=QUIET, mfc="white", markersize=4, linewidth=0.8, label="Where it was found")
    for chosen, colour, name in ((counts, FOUND, "counts"), (~counts, HINT, "does not count")):
        axes.errorbar(
            place[chosen],
            held[chosen],
            error[chosen],
            fmt="o",
            color=colour,
            markersize=4.5,
            linewidth=1.2,
            label=f"On other samples: {name}",
        )
    axes.axvline(spectrum.n_signal + 0.5, color=FOUND, linewidth=1, linestyle=(0, (4, 3)))
    # Linear as far as noise goes, logarithmic where signals differ by factors.
    axes.set_yscale("symlog", linthresh=max(float(np.median(least)), np.finfo(np.float64).tiny), linscale=0.6)
    axes.set_ylim(lowest, 1.6 * max(found.max(initial=0.0), least.max(initial=0.0)) or 1.0)
    axes.set_xlim(0.5, len(place) + 0.5)
    axes.set_xlabel("Direction", color=TEXT)
    level = f" above the noise level {plain_number(spectrum.noise)}" if spectrum.noise else ""
    axes.set_ylabel(f"Signal{level}", color=TEXT)
    axes.legend(loc="upper right", frameon=False, fontsize=9, labelcolor=TEXT)


def _eigenvalues(shown: Any) -> Any:
    """Of a fitted search; the unit of the coordinate that only tells where zero is has no place among them."""
    if not hasattr(shown, "model_"):
        return shown
    frame = shown.model_.frame
    return frame.values if frame.origin is None else frame.values[1:]


def _plot_eigenvalues(values: Any) -> Figure:
    heights = np.asarray(values, dtype=np.float64)
    if not len(heights) or not (heights > 0).all():
        raise SearchError(
            "Found no eigenvalues, or some that are not positive; a spectrum has at least 1, all above 0."
        )
    figure = Figure(figsize=(7, 4.2), dpi=_DPI, layout=_roomy())
    axes = figure.subplots()
    axes.plot(np.arange(1, len(heights) + 1), heights, color=FOUND, marker="o", markersize=4, linewidth=1.2)
    axes.set_yscale("log")
    axes.set_xlabel("Component", color=TEXT)
    axes.set_ylabel("Eigenvalue of the second moment", color=TEXT)
    _draw_grid(axes)
    span = f"from {plain_number(float(heights[0]))} to {plain_number(float(heights[-1]))}"
    _title(axes, f"{len(heights)} eigenvalues", f"{span}; where they level off, more components add little")
    return figure


def _draw_grid(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(which="both", labelsize=9, labelcolor=QUIET, color=OTHER)
    axes.grid(axis="y", color=OTHER, alpha=0.4, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(OTHER)


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a picture in the format of its suffix, whole or not at all."""
    target = Path(path)
    with written_whole(target) as part:
        figure.savefig(part, format=target.suffix[1:] or "png")
    return target


def _roomy() -> ConstrainedLayoutEngine:
    return ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12, wspace=0.06, hspace=0.04)


def _lead(separation: float) -> str:
    return f"Separation {plain_number(separation)}: {verdict(separation)}"


def _surely(topic: Topic) -> str:
    return f"Confidence {plain_chance(topic.confidence)}"


def _percent(share: float, stderr: float | None = None) -> str:
    return f"{100 * share:.1f}%" if stderr is None else f"{give_or_take(100 * share, 100 * stderr)}%"


def _figure_title(figure: Figure, title: str) -> None:
    figure.suptitle(title, x=0.02, ha="left", fontsize=13, color=TEXT)


def _title(axes: Axes, title: str, line: str) -> None:
    """A title and, under it, what it says, flush left. Words are never read as formulas."""
    room = 8 + 12 * (line.count("\n") + 1)
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=TEXT, pad=room, parse_math=False)
    axes.annotate(line, (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", fontsize=9, color=QUIET)


def _draw_words(axes: Axes, topic: Topic, n_words: int, *, hint: Sequence[str], errors: bool) -> None:
    words = topic.top_words(n_words)
    colours = [HINT if word in hint else FOUND for word, _ in words]
    whiskers = topic.stderr.center[topic.top_columns(n_words)].tolist() if errors else None
    _draw_bars(axes, [word for word, _ in words], [probability for _, probability in words], colours, whiskers)


def _draw_shares(axes: Axes, topic: Topic) -> None:
    rivals = sorted(topic.alternatives, key=lambda rival: -rival.share)[:_N_ALTERNATIVES]
    names = [", ".join(word for word, _ in each.top_words(2)) for each in (topic, *rivals)]
    _draw_bars(axes, names, [each.share for each in (topic, *rivals)], [FOUND, *[OTHER] * len(rivals)])
    _title(axes, "Share of the hint", "found, and its strongest alternatives")


def _draw_bars(
    axes: Axes,
    names: Sequence[str],
    lengths: Sequence[float],
    colours: Sequence[str],
    whiskers: Sequence[float] | None = None,
) -> None:
    """Horizontal bars, the first on top, each with its number, so that no axis is needed."""
    thin = {"elinewidth": 0.9, "ecolor": TEXT, "capsize": 2, "capthick": 0.9}
    bars = axes.barh(range(len(names)), lengths, color=colours, height=0.72, xerr=whiskers, error_kw=thin)
    labels = list(map(_percent, lengths) if whiskers is None else map(_percent, lengths, whiskers))
    axes.bar_label(bars, labels, padding=3, fontsize=8.5, color=QUIET)
    axes.set_yticks(range(len(names)), list(names), fontsize=10, color=TEXT, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    ends = np.add(lengths, whiskers or 0.0)
    axes.set_xlim(0, (1.18 if whiskers is None else 1.35) * ends.max(initial=1e-12))
    axes.xaxis.set_visible(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _telling_plane(found: GaussianComponent) -> Array:
    """Orthonormal directions of the center found and of its runner-up, (k, 2)."""
    if not found.alternatives:
        raise SearchError("Found a component without alternatives, needed a runner-up to draw it beside.")
    plane, signs = np.linalg.qr(np.column_stack([found.point, found.alternatives[0].point]))
    return np.asarray(plane * np.sign(np.diag(signs)))


def _known_members(labels: Any, n_samples: int) -> Array:
    if labels is None:
        return np.array([], dtype=np.intp)
    known = np.asarray(labels).ravel()
    if len(known) != n_samples:
        raise SearchError(f"Found {len(known)} labels, needed one for each of the {n_samples} samples.")
    return np.flatnonzero(known == 1)


def _draw_samples(figure: Figure, axes: Axes, samples: Array, membership: Array) -> None:
    order = np.argsort(membership, kind="stable")  # likely members on top
    x, y = samples[order].T
    points = axes.scatter(x, y, s=7, c=membership[order], cmap=MEMBERSHIP, vmin=0, vmax=1, linewidths=0)
    points.set_rasterized(True)
    bar = figure.colorbar(points, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label("Probability of membership", color=TEXT)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=9, labelcolor=QUIET)
    axes.set_aspect("equal", adjustable="datalim")
    axes.tick_params(labelsize=9, labelcolor=QUIET, color=OTHER)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(OTHER)


def _draw_centers(axes: Axes, found: GaussianComponent, plane: Array) -> None:
    x, y = np.transpose([center.point @ plane for center in (found, *found.alternatives)])
    axes.scatter(x[:1], y[:1], marker="*", s=320, color=HINT, edgecolors="white", zorder=3, label="Center found")
    axes.scatter(x[1:], y[1:], marker="x", s=45, color=QUIET, linewidths=1.2, zorder=2, label="Alternatives")


def _draw_known(axes: Axes, members: Array) -> None:
    if len(members):
        x, y = members.T
        name = "Known member" if len(members) == 1 else "Known members"
        axes.scatter(x, y, s=110, facecolors="none", edgecolors="black", linewidths=1.6, label=name)
