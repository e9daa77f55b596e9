"""Draw answers with matplotlib: the words of topics, the samples of Gaussians and regressions, spectra."""

from __future__ import annotations

import os
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from mixsearch._typing import Array, Sparse
from mixsearch.core.rank_selection import Spectrum
from mixsearch.core.separation import verdict
from mixsearch.display import give_or_take, plain_chance, plain_number
from mixsearch.errors import SearchError
from mixsearch.gaussian import GaussianComponent
from mixsearch.regression import RegressionComponent
from mixsearch.storage import write_atomically
from mixsearch.topics import Topic

try:
    # Figures made without pyplot touch no global state and need no screen.
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.ticker import MaxNLocator

    from mixsearch._fonts import choose_fonts
except ModuleNotFoundError as error:
    raise ImportError(
        "Plots need matplotlib. Install it with: pip install 'mixsearch[plot]'", name="matplotlib"
    ) from error

# From the palette of Okabe and Ito, safe for color-blind readers.
FOUND_COLOR = "#0072B2"
HINT_COLOR = "#D55E00"
OTHER_COLOR = "#B8BCC2"
TEXT_COLOR = "#222222"
MUTED_COLOR = "#6B7077"
MEMBERSHIP = LinearSegmentedColormap.from_list("membership", ["#C9CDD2", "#7FB2D6", FOUND_COLOR])

__all__ = [
    "FOUND_COLOR",
    "HINT_COLOR",
    "MUTED_COLOR",
    "OTHER_COLOR",
    "TEXT_COLOR",
    "plot_component",
    "plot_regression",
    "plot_spectrum",
    "plot_topic",
    "plot_topics",
    "save_figure",
]

_DPI = 150
_PANELS_PER_ROW = 3
_PANEL_LETTERS = 38  # per line of a panel's subtitle
_MAX_ALTERNATIVES = 4
_N_NOISE = 12  # directions of noise shown after those of signal


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
    """
    figure = Figure(figsize=(9, 1.5 + 0.27 * n_words), dpi=_DPI, layout=_make_layout())
    words, shares = figure.subplots(1, 2, width_ratios=[3, 2])
    _draw_words(words, topic, n_words, hint=(), errors=errors)
    weight = _format_percent(topic.weight, topic.stderr.weight if errors else None)
    _set_title(words, "Typical words", f"{weight} of the corpus{'; whiskers: one standard error' if errors else ''}")
    _draw_shares(shares, topic)
    shares.set_ylim(max(words.get_ylim()[0], shares.get_ylim()[0]), -0.5)  # bars as thick as those of the words
    _set_figure_title(figure, ". ".join(_describe(topic, errors)))
    choose_fonts(figure)
    return figure


def plot_topics(topics: Mapping[str, Topic], n_words: int = 8, errors: bool = False) -> Figure:
    """Draw several topics, one panel for each hint.

    Parameters
    ----------
    topics : mapping of str to Topic
        The topics by their hints. Words of the hint have a color of their own.
    n_words : int, default=8
        The number of words of each topic.
    errors : bool, default=False
        Show error bars of one standard error, and the confidence.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not topics:
        raise SearchError("There are no topics to draw. Give at least one.", code="nothing_to_plot")
    n_columns = min(len(topics), _PANELS_PER_ROW)
    n_rows = -(-len(topics) // n_columns)
    size = (max(4.2 * n_columns, 6.0), 0.5 + n_rows * (1.1 + 0.27 * n_words))
    figure = Figure(figsize=size, dpi=_DPI, layout=_make_layout())
    panels = figure.subplots(n_rows, n_columns, squeeze=False).flat
    for panel, item in zip_longest(panels, topics.items()):
        if item is None:
            panel.set_axis_off()
            continue
        hint, topic = item
        _draw_words(panel, topic, n_words, hint=hint.split(), errors=errors)
        lines = _describe(topic, errors)
        _set_title(panel, hint, "\n".join(textwrap.fill(line, _PANEL_LETTERS) for line in lines))
    whiskers = ". Whiskers: one standard error" if errors else ""
    _set_figure_title(figure, f"Topics by their hints (words of the hint in orange){whiskers}")
    choose_fonts(figure)
    return figure


def plot_component(found: GaussianComponent, X: ArrayLike | Sparse, labels: ArrayLike | None = None) -> Figure:
    """Draw samples in the plane that separates a Gaussian from its runner-up, colored by membership.

    Parameters
    ----------
    found : GaussianComponent
        As a search returns it.
    X : array or sparse matrix of shape (n, d)
        The samples to draw.
    labels : array of shape (n,), optional
        1 for known members, as in `fit`. They are marked with a ring.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Centers are orthogonal in the whitened space. The coordinate along the center found therefore separates the
    component from all others, and the coordinate along the runner-up separates the runner-up.
    """
    plane = _find_plane(found)
    rows = X if isinstance(X, sp.sparray | sp.spmatrix) else np.asarray(X)
    membership = found.membership(rows)
    samples = found._frame.whiten(rows) @ plane
    known = _find_known(labels, len(samples))
    figure = Figure(figsize=(7.5, 7), dpi=_DPI, layout=_make_layout())
    axes = figure.add_subplot()
    _draw_samples(figure, axes, samples, membership)
    _draw_centers(axes, found, plane)
    _draw_known(axes, samples[known])
    _set_title(
        axes,
        _describe_separation(found.separation),
        f"One of {len(found.scores)} components, {_format_percent(found.weight)} of the mixture",
    )
    axes.set_xlabel("Along the center found", color=TEXT_COLOR)
    axes.set_ylabel("Along the runner-up", color=TEXT_COLOR)
    axes.legend(loc="upper right", frameon=False, fontsize=9, labelcolor=TEXT_COLOR)
    return figure


def plot_regression(
    found: RegressionComponent,
    X: ArrayLike,
    y: ArrayLike,
    labels: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> Figure:
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
        1 for known members. They are marked with a ring.
    names : sequence of str, optional
        The names of the d features and of the response.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    The dark band is 1.96 standard errors of the line to both sides, the pale one 1.96 deviations of the noise.
    """
    rows, responses = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    known = _find_known(labels, len(rows))
    *features, response = names or [*(f"x{j}" for j in range(rows.shape[1])), "y"]
    predicted, is_one = found.predict(rows), rows.shape[1] == 1
    along = rows[:, 0] if is_one else predicted
    samples = np.column_stack([along, responses])
    figure = Figure(figsize=(7.5, 6), dpi=_DPI, layout=_make_layout())
    axes = figure.add_subplot()
    _draw_samples(figure, axes, samples, found.membership(rows, responses), is_plane=False)
    _draw_line(axes, found, along, predicted, found.predict_stderr(rows))
    _draw_known(axes, samples[known])
    _set_title(
        axes,
        f"The line of the {len(known)} examples" if len(known) else "The line found",
        "For all samples"
        if len(found.scores) == 1
        else f"One of {len(found.scores)}, {_format_percent(found.weight, found.stderr.weight)} of the samples",
    )
    axes.set_xlabel(features[0] if is_one else f"Predicted {response}", color=TEXT_COLOR, parse_math=False)
    axes.set_ylabel(response, color=TEXT_COLOR, parse_math=False)
    axes.legend(loc="best", frameon=False, fontsize=9, labelcolor=TEXT_COLOR)
    choose_fonts(figure)
    return figure


def _draw_line(axes: Axes, found: RegressionComponent, along: Array, predicted: Array, stderr: Array) -> None:
    order = np.argsort(along)
    x, line = along[order], predicted[order]
    noise = 1.96 * np.sqrt(found.noise_variance)
    axes.fill_between(x, line - noise, line + noise, color=FOUND_COLOR, alpha=0.08, linewidth=0, label="95% of members")
    # Samples with the same prediction differ in their errors.
    error = 1.96 * _smooth(stderr[order])
    axes.fill_between(x, line - error, line + error, color=FOUND_COLOR, alpha=0.35, linewidth=0, label="95% interval")
    axes.plot(x, line, color=HINT_COLOR, linewidth=1.4, label="Line found")


def _smooth(values: Array) -> Array:
    """Return the average over a hundredth of the values to both sides."""
    width = max(len(values) // 100, 1)
    ends = np.pad(values, width, mode="edge")
    return np.convolve(ends, np.full(2 * width + 1, 1 / (2 * width + 1)), mode="valid")


def plot_spectrum(shown: BaseEstimator | Spectrum | ArrayLike) -> Figure:
    """Draw the spectrum of a fit: which directions are signal, or where the eigenvalues level off.

    Parameters
    ----------
    shown : fitted search, Spectrum, or sequence of float
        A search fitted with ``n_components="auto"``, or its `spectrum_`: draws each direction's eigenvalue on the
        samples it was found on and on held-out samples. Any other fitted search, or a sequence of eigenvalues: draws
        the eigenvalues.

    Returns
    -------
    matplotlib.figure.Figure
    """
    spectrum = getattr(shown, "spectrum_", shown)
    if not isinstance(spectrum, Spectrum):
        return _plot_eigenvalues(_find_eigenvalues(shown))
    if not len(spectrum.counts):
        raise SearchError("The spectrum has no directions: samples with one feature have none.", code="nothing_to_plot")
    figure = Figure(figsize=(7.5, 4.6), dpi=_DPI, layout=_make_layout())
    axes = figure.subplots()
    n_shown = min(len(spectrum.counts), max(2 * spectrum.n_signal, spectrum.n_signal + _N_NOISE))
    _draw_spectrum(axes, spectrum, np.arange(n_shown))
    what = "component" if spectrum.n_components == 1 else "components"
    _set_title(
        axes,
        f"{spectrum.n_components} {what}: {spectrum.n_signal} of {len(spectrum.counts)} directions are signal",
        "Eigenvalues on the two thirds of the samples they were found on, and on the held-out third",
    )
    _draw_grid(axes)
    return figure


def _draw_spectrum(axes: Axes, spectrum: Spectrum, which: Array) -> None:
    index, counts = which + 1, spectrum.counts[which]
    found, held, error = spectrum.found[which], spectrum.held_out[which], spectrum.stderr[which]
    needed = np.maximum(spectrum.threshold * error, spectrum.min_held * found)
    lowest = 1.2 * float((held - 2 * error).min(initial=0.0))
    axes.fill_between(
        index, lowest, needed, step="mid", color=OTHER_COLOR, alpha=0.3, linewidth=0, label="Below the threshold"
    )
    axes.axhline(0, color=OTHER_COLOR, linewidth=0.8)
    axes.plot(index, found, "o-", color=MUTED_COLOR, mfc="white", markersize=4, linewidth=0.8, label="In sample")
    for chosen, color, name in ((counts, FOUND_COLOR, "signal"), (~counts, HINT_COLOR, "noise")):
        axes.errorbar(
            index[chosen],
            held[chosen],
            error[chosen],
            fmt="o",
            color=color,
            markersize=4.5,
            linewidth=1.2,
            label=f"Held out: {name}",
        )
    axes.axvline(spectrum.n_signal + 0.5, color=FOUND_COLOR, linewidth=1, linestyle=(0, (4, 3)))
    # Linear in the range of the noise, logarithmic above it.
    axes.set_yscale("symlog", linthresh=max(float(np.median(needed)), np.finfo(np.float64).tiny), linscale=0.6)
    axes.set_ylim(lowest, 1.6 * max(found.max(initial=0.0), needed.max(initial=0.0)) or 1.0)
    axes.set_xlim(0.5, len(index) + 0.5)
    axes.set_xlabel("Direction", color=TEXT_COLOR)
    level = f" above the noise level {plain_number(spectrum.noise)}" if spectrum.noise else ""
    axes.set_ylabel(f"Signal{level}", color=TEXT_COLOR)
    axes.legend(loc="upper right", frameon=False, fontsize=9, labelcolor=TEXT_COLOR)


def _find_eigenvalues(shown: Any) -> Any:
    """Return the eigenvalues of a fitted search, without that of the constant coordinate."""
    if not hasattr(shown, "_family"):
        return shown
    frame = shown._family.frame
    return frame.values if frame.origin is None else frame.values[1:]


def _plot_eigenvalues(values: Any) -> Figure:
    heights = np.asarray(values, dtype=np.float64)
    if not len(heights) or not (heights > 0).all():
        raise SearchError("A spectrum needs at least one eigenvalue, and all must be positive.", code="bad_eigenvalues")
    figure = Figure(figsize=(7, 4.2), dpi=_DPI, layout=_make_layout())
    axes = figure.subplots()
    axes.plot(np.arange(1, len(heights) + 1), heights, color=FOUND_COLOR, marker="o", markersize=4, linewidth=1.2)
    axes.set_yscale("log")
    axes.set_xlabel("Component", color=TEXT_COLOR)
    axes.set_ylabel("Eigenvalue of the second moment", color=TEXT_COLOR)
    _draw_grid(axes)
    span = f"from {plain_number(float(heights[0]))} to {plain_number(float(heights[-1]))}"
    _set_title(axes, f"{len(heights)} eigenvalues", f"{span}; components after they level off add little")
    return figure


def _draw_grid(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(which="both", labelsize=9, labelcolor=MUTED_COLOR, color=OTHER_COLOR)
    axes.grid(axis="y", color=OTHER_COLOR, alpha=0.4, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(OTHER_COLOR)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure to a file. If writing fails, no partial file is left.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : path
        The suffix sets the format; .png by default.

    Returns
    -------
    Path
        The file written.
    """
    target = Path(path)
    with write_atomically(target) as part, warnings.catch_warnings():
        # Said once for all characters when the figure was drawn.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(part, format=target.suffix[1:] or "png")
    return target


def _make_layout() -> ConstrainedLayoutEngine:
    return ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12, wspace=0.06, hspace=0.04)


def _describe_separation(separation: float) -> str:
    return f"Separation {plain_number(separation)}: {verdict(separation)}"


def _describe(topic: Topic, errors: bool) -> list[str]:
    confidence = [f"Confidence {plain_chance(topic.confidence)}"] if errors else []
    return [_describe_separation(topic.separation), *confidence]


def _format_percent(share: float, stderr: float | None = None) -> str:
    return f"{100 * share:.1f}%" if stderr is None else f"{give_or_take(100 * share, 100 * stderr)}%"


def _set_figure_title(figure: Figure, title: str) -> None:
    figure.suptitle(title, x=0.02, ha="left", fontsize=13, color=TEXT_COLOR)


def _set_title(axes: Axes, title: str, line: str) -> None:
    """Write a title with a subtitle, flush left. Words are never parsed as formulas."""
    room = 8 + 12 * (line.count("\n") + 1)
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=TEXT_COLOR, pad=room, parse_math=False)
    axes.annotate(
        line, (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", fontsize=9, color=MUTED_COLOR
    )


def _draw_words(axes: Axes, topic: Topic, n_words: int, *, hint: Sequence[str], errors: bool) -> None:
    words = topic.word_table(n_words, errors=errors)
    colors = [HINT_COLOR if each.word in hint else FOUND_COLOR for each in words]
    whiskers = [each.stderr for each in words if each.stderr is not None] if errors else None
    _draw_bars(axes, [each.word for each in words], [each.probability for each in words], colors, whiskers)


def _draw_shares(axes: Axes, topic: Topic) -> None:
    others = sorted(topic.alternatives, key=lambda other: -other.share)[:_MAX_ALTERNATIVES]
    names = [", ".join(word for word, _ in each.top_words(2)) for each in (topic, *others)]
    _draw_bars(axes, names, [each.share for each in (topic, *others)], [FOUND_COLOR, *[OTHER_COLOR] * len(others)])
    _set_title(axes, "Share of the hint", "found, and its strongest alternatives")


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
    labels = list(map(_format_percent, lengths) if whiskers is None else map(_format_percent, lengths, whiskers))
    axes.bar_label(bars, labels, padding=3, fontsize=8.5, color=MUTED_COLOR)
    axes.set_yticks(range(len(names)), list(names), fontsize=10, color=TEXT_COLOR, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    ends = np.add(lengths, whiskers or 0.0)
    axes.set_xlim(0, (1.18 if whiskers is None else 1.35) * ends.max(initial=1e-12))
    axes.xaxis.set_visible(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _find_plane(found: GaussianComponent) -> Array:
    """Return orthonormal directions of the center found and of its runner-up, (k, 2)."""
    if not found.alternatives:
        raise SearchError("The component has no alternatives to compare it with.", code="nothing_to_plot")
    plane, signs = np.linalg.qr(np.column_stack([found._point, found.alternatives[0]._point]))
    return np.asarray(plane * np.sign(np.diag(signs)))


def _find_known(labels: ArrayLike | None, n_samples: int) -> Array:
    if labels is None:
        return np.array([], dtype=np.intp)
    known = np.asarray(labels).ravel()
    if len(known) != n_samples:
        raise SearchError(
            "There are {n_labels} labels for {n_samples} samples. Give one label per sample.",
            code="bad_labels",
            n_labels=len(known),
            n_samples=n_samples,
        )
    return np.flatnonzero(known == 1)


def _draw_samples(figure: Figure, axes: Axes, samples: Array, membership: Array, *, is_plane: bool = True) -> None:
    order = np.argsort(membership, kind="stable")  # likely members on top
    x, y = samples[order].T
    points = axes.scatter(x, y, s=7, c=membership[order], cmap=MEMBERSHIP, vmin=0, vmax=1, linewidths=0)
    points.set_rasterized(True)
    bar = figure.colorbar(points, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label("Probability of membership", color=TEXT_COLOR)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=9, labelcolor=MUTED_COLOR)
    if is_plane:
        axes.set_aspect("equal", adjustable="datalim")
    axes.tick_params(labelsize=9, labelcolor=MUTED_COLOR, color=OTHER_COLOR)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(OTHER_COLOR)


def _draw_centers(axes: Axes, found: GaussianComponent, plane: Array) -> None:
    x, y = np.transpose([center._point @ plane for center in (found, *found.alternatives)])
    axes.scatter(x[:1], y[:1], marker="*", s=320, color=HINT_COLOR, edgecolors="white", zorder=3, label="Center found")
    axes.scatter(x[1:], y[1:], marker="x", s=45, color=MUTED_COLOR, linewidths=1.2, zorder=2, label="Alternatives")


def _draw_known(axes: Axes, members: Array) -> None:
    if len(members):
        x, y = members.T
        name = "Known member" if len(members) == 1 else "Known members"
        axes.scatter(x, y, s=110, facecolors="none", edgecolors="black", linewidths=1.6, label=name)
