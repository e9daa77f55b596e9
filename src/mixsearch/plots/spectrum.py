"""Draw the spectrum of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from mixsearch._typing import Array
from mixsearch.core.spectrum import Spectrum
from mixsearch.display import plain_number
from mixsearch.errors import SearchError
from mixsearch.plots.style import (
    DPI,
    FOUND_COLOR,
    HINT_COLOR,
    MUTED_COLOR,
    OTHER_COLOR,
    TEXT_COLOR,
    make_layout,
    set_title,
)

_N_NOISE = 12  # directions of noise shown after those of signal


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

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> from mixsearch.plots import plot_spectrum
    >>> data = make_gaussian_mixture(500, 10, 3, random_state=0)
    >>> figure = plot_spectrum(GaussianSearch("auto").fit(data.X))
    """
    spectrum = getattr(shown, "spectrum_", shown)
    if not isinstance(spectrum, Spectrum):
        return _plot_eigenvalues(_find_eigenvalues(shown))
    if not len(spectrum.counts):
        raise SearchError("The spectrum has no directions: samples with one feature have none.", code="nothing_to_plot")
    figure = Figure(figsize=(7.5, 4.6), dpi=DPI, layout=make_layout())
    axes = figure.subplots()
    n_shown = min(len(spectrum.counts), max(2 * spectrum.n_signal, spectrum.n_signal + _N_NOISE))
    _draw_spectrum(axes, spectrum, np.arange(n_shown))
    what = "component" if spectrum.n_components == 1 else "components"
    set_title(
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
    figure = Figure(figsize=(7, 4.2), dpi=DPI, layout=make_layout())
    axes = figure.subplots()
    axes.plot(np.arange(1, len(heights) + 1), heights, color=FOUND_COLOR, marker="o", markersize=4, linewidth=1.2)
    axes.set_yscale("log")
    axes.set_xlabel("Component", color=TEXT_COLOR)
    axes.set_ylabel("Eigenvalue of the second moment", color=TEXT_COLOR)
    _draw_grid(axes)
    span = f"from {plain_number(float(heights[0]))} to {plain_number(float(heights[-1]))}"
    set_title(axes, f"{len(heights)} eigenvalues", f"{span}; components after they level off add little")
    return figure


def _draw_grid(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(which="both", labelsize=9, labelcolor=MUTED_COLOR, color=OTHER_COLOR)
    axes.grid(axis="y", color=OTHER_COLOR, alpha=0.4, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(OTHER_COLOR)
