"""Draw a Gaussian component or a regression among the samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from mixsearch._fonts import choose_fonts
from mixsearch._typing import Array, Sparse
from mixsearch.errors import SearchError
from mixsearch.gaussian import GaussianComponent
from mixsearch.plots.style import (
    DPI,
    FOUND_COLOR,
    HINT_COLOR,
    MEMBERSHIP,
    MUTED_COLOR,
    OTHER_COLOR,
    TEXT_COLOR,
    describe_separation,
    format_percent,
    make_layout,
    set_title,
)
from mixsearch.regression import RegressionComponent


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

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> from mixsearch.plots import plot_component
    >>> data = make_gaussian_mixture(500, 10, 3, random_state=0)
    >>> found = GaussianSearch(3).fit(data.X).search(examples=data.X[:1])
    >>> figure = plot_component(found, data.X)
    """
    plane = _find_plane(found)
    rows = X if isinstance(X, sp.sparray | sp.spmatrix) else np.asarray(X)
    membership = found.membership(rows)
    samples = found._frame.whiten(rows) @ plane
    known = find_known(labels, len(samples))
    figure = Figure(figsize=(7.5, 7), dpi=DPI, layout=make_layout())
    axes = figure.add_subplot()
    draw_samples(figure, axes, samples, membership)
    _draw_centers(axes, found, plane)
    draw_known(axes, samples[known])
    set_title(
        axes,
        describe_separation(found.separation),
        f"One of {len(found.scores)} components, {format_percent(found.weight)} of the mixture",
    )
    axes.set_xlabel("Along the center found", color=TEXT_COLOR)
    axes.set_ylabel("Along the runner-up", color=TEXT_COLOR)
    axes.legend(loc="upper right", frameon=False, fontsize=9, labelcolor=TEXT_COLOR)
    return figure


def _find_plane(found: GaussianComponent) -> Array:
    """Return orthonormal directions of the center found and of its runner-up, (k, 2)."""
    if not found.alternatives:
        raise SearchError("The component has no alternatives to compare it with.", code="nothing_to_plot")
    plane, signs = np.linalg.qr(np.column_stack([found._point, found.alternatives[0]._point]))
    return np.asarray(plane * np.sign(np.diag(signs)))


def _draw_centers(axes: Axes, found: GaussianComponent, plane: Array) -> None:
    x, y = np.transpose([center._point @ plane for center in (found, *found.alternatives)])
    axes.scatter(x[:1], y[:1], marker="*", s=320, color=HINT_COLOR, edgecolors="white", zorder=3, label="Center found")
    axes.scatter(x[1:], y[1:], marker="x", s=45, color=MUTED_COLOR, linewidths=1.2, zorder=2, label="Alternatives")


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
    The band is 1.96 deviations of the noise to both sides.

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
    _draw_line(axes, found, along, predicted)
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


def _draw_line(axes: Axes, found: RegressionComponent, along: Array, predicted: Array) -> None:
    order = np.argsort(along)
    x, line = along[order], predicted[order]
    noise = 1.96 * np.sqrt(found.noise_variance)
    axes.fill_between(x, line - noise, line + noise, color=FOUND_COLOR, alpha=0.12, linewidth=0, label="95% of members")
    axes.plot(x, line, color=HINT_COLOR, linewidth=1.4, label="Line found")


def find_known(labels: ArrayLike | None, n_samples: int) -> Array:
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


def draw_samples(figure: Figure, axes: Axes, samples: Array, membership: Array, *, is_plane: bool = True) -> None:
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


def draw_known(axes: Axes, members: Array) -> None:
    if len(members):
        x, y = members.T
        name = "Known member" if len(members) == 1 else "Known members"
        axes.scatter(x, y, s=110, facecolors="none", edgecolors="black", linewidths=1.6, label=name)
