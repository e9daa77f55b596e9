"""Draw the samples of a Gaussian."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from mixsearch._typing import Array, Sparse
from mixsearch.errors import SearchError
from mixsearch.gaussian import GaussianComponent
from mixsearch.plots._samples import draw_known, draw_samples, find_known
from mixsearch.plots._style import (
    DPI,
    HINT_COLOR,
    MUTED_COLOR,
    TEXT_COLOR,
    describe_separation,
    format_percent,
    make_layout,
    set_title,
)


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
