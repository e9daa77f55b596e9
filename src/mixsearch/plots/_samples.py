"""Samples colored by their membership, with the known members marked."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.plots._style import MEMBERSHIP, MUTED_COLOR, OTHER_COLOR, TEXT_COLOR


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
