"""Draw samples and the line of a regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from mixsearch._fonts import choose_fonts
from mixsearch._typing import Array
from mixsearch.plots._samples import draw_known, draw_samples, find_known
from mixsearch.plots._style import DPI, FOUND_COLOR, HINT_COLOR, TEXT_COLOR, format_percent, make_layout, set_title
from mixsearch.regression import RegressionComponent


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

    Examples
    --------
    >>> from mixsearch import RegressionSearch
    >>> from mixsearch.datasets import make_mixed_regression
    >>> from mixsearch.plots import plot_regression
    >>> data = make_mixed_regression(2000, 3, 2, random_state=0)
    >>> found = RegressionSearch(2).fit(data.X, data.y).search(data.centers[0], refine=True)
    >>> figure = plot_regression(found, data.X, data.y)
    """
    rows, responses = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    known = find_known(labels, len(rows))
    *features, response = names or [*(f"x{j}" for j in range(rows.shape[1])), "y"]
    predicted, is_one = found.predict(rows), rows.shape[1] == 1
    along = rows[:, 0] if is_one else predicted
    samples = np.column_stack([along, responses])
    figure = Figure(figsize=(7.5, 6), dpi=DPI, layout=make_layout())
    axes = figure.add_subplot()
    draw_samples(figure, axes, samples, found.membership(rows, responses), is_plane=False)
    _draw_line(axes, found, along, predicted, found.predict_stderr(rows))
    draw_known(axes, samples[known])
    set_title(
        axes,
        f"The line of the {len(known)} examples" if len(known) else "The line found",
        "For all samples"
        if len(found.scores) == 1
        else f"One of {len(found.scores)}, {format_percent(found.weight, found.stderr.weight)} of the samples",
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
