"""Draw the pictures of the guides: `python -m docs.pictures [NAME ...]`. All of them take two minutes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from paper_experiments.figures import write_picture
from sklearn.datasets import load_wine

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch, find, segment
from mixsearch._typing import Array
from mixsearch.datasets import (
    make_gaussian_mixture,
    make_hint,
    make_landscape,
    make_mixed_regression,
    make_subspaces,
    make_topics,
)
from mixsearch.show.plots import plot_component, plot_members

FOLDER = Path(__file__).parent / "pictures"
SIZES = 2 ** np.arange(10, 17)
SEEDS = range(5)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


class Errors(NamedTuple):
    """Errors of one search: by moments alone, refined, and with every label known."""

    moments: float
    refined: float
    oracle: float


def gaussian_errors(n: int, seed: int) -> Errors:
    data = make_gaussian_mixture(n, 20, 3, deviation=3.0, random_state=seed)
    found = GaussianSearch(3).fit(data.X).search(make_hint(data.centers, 0, gamma=0.9), refine=True)
    return _errors(found, data.X[data.labels == 0].mean(axis=0), data.centers[0])


def topic_errors(n: int, seed: int) -> Errors:
    data = make_topics(n, 40, 3, mean_length=30, alpha=0.3, random_state=seed)
    found = LdaSearch(3, alpha0=0.9).fit(data.counts).search(words=data.labelled_word(0), refine=True)
    lengths = np.maximum(np.asarray(data.counts.sum(axis=1), dtype=float), 1)
    root = np.sqrt(lengths)[:, None]
    oracle = np.linalg.lstsq(data.shares * root, data.counts.toarray() / root, rcond=None)[0][0]
    return _errors(found, oracle, data.topics[0])


def regression_errors(n: int, seed: int) -> Errors:
    data = make_mixed_regression(n, 10, 2, weights=np.array([0.5, 0.5]), random_state=seed)
    found = RegressionSearch(2).fit(data.X, data.y).search(make_hint(data.centers, 0, gamma=0.9), refine=True)
    members = data.labels == 0
    return _errors(found, np.linalg.lstsq(data.X[members], data.y[members], rcond=None)[0], data.centers[0])


def subspace_errors(n: int, seed: int) -> Errors:
    data = make_subspaces(n, 30, 2, dim=2, deviation=0.3, random_state=seed)
    found = SubspaceSearch(2, dim=2).fit(data.X).search(make_hint(data.bases, 0, gamma=0.95), refine=True)
    members = data.X[data.labels == 0]
    oracle = np.linalg.eigh(members.T @ members)[1][:, -2:]
    return Errors(*(_sine(basis, data.bases[0]) for basis in (found.moment_estimate.basis, found.basis, oracle)))


def _errors(found: Any, oracle: Array, truth: Array) -> Errors:
    centers = found.moment_estimate.center, found.center, oracle
    return Errors(*(float(np.linalg.norm(center - truth)) for center in centers))


def _sine(one: Array, other: Array) -> float:
    return float(np.linalg.norm(one @ one.T - other @ other.T, 2))


def draw_rates() -> Figure:
    """Error against the number of samples, one panel for each model: moments, refined, and the oracle."""
    panels: dict[str, Callable[[int, int], Errors]] = {
        "Gaussian: center": gaussian_errors,
        "Topic: word probabilities": topic_errors,
        "Regression: coefficients": regression_errors,
        "Subspace: projection": subspace_errors,
    }
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    for axes, (title, errors) in zip(figure.subplots(1, 4), panels.items(), strict=True):
        curves = np.array([np.mean([errors(int(n), seed) for seed in SEEDS], axis=0) for n in SIZES])
        slope = np.polyfit(np.log2(SIZES), np.log2(curves[:, 0]), 1)[0]
        axes.loglog(SIZES, curves[:, 0], "o-", color=COLOURS[0], label=f"moments, slope {slope:.2f}")
        axes.loglog(SIZES, curves[:, 1], "D-", color=COLOURS[1], markersize=4, label="refined")
        axes.loglog(SIZES, curves[:, 2], "s--", color="#888888", markersize=4, label="knows every label")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("samples")
        axes.legend(frameon=False, fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("mean error")
    return figure


def draw_segments() -> Figure:
    """A landscape drawn at random, and its segments by the paper's search and by the graph."""
    data = make_landscape(random_state=2)
    panels = {
        "The picture": data.image,
        "method='paper'": segment(data.image, data.seeds, method="paper").overlay(),
        "method='graph', the default": segment(data.image, data.seeds).overlay(),
    }
    figure = Figure(figsize=(12, 3), dpi=90, layout="constrained")
    for axes, (title, image) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        axes.imshow(image, interpolation="nearest")
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_axis_off()
    return figure


def draw_members() -> Figure:
    """The wines like three of them."""
    figure = Figure(figsize=(7, 5), layout="constrained")
    plot_members(find(load_wine(as_frame=True).data, examples=[0, 5, 9], not_examples=[110]), ax=figure.subplots())
    return figure


def draw_gaussian() -> Figure:
    """One Gaussian of ten, from one labelled sample."""
    data = make_gaussian_mixture(10_000, 100, 10, deviation=2.0, random_state=0)
    found = GaussianSearch(10).fit(data.X).search(examples=data.X[:1], refine=True)
    figure = Figure(figsize=(7, 5.6), layout="constrained")
    plot_component(found, data.X, np.where(np.arange(len(data.X)) == 0, 1, -1), ax=figure.subplots())
    return figure


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    drawings = {
        "rates": draw_rates,
        "segments": draw_segments,
        "members": draw_members,
        "gaussian": draw_gaussian,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sys.argv[1:] or drawings:
            write_picture(FOLDER / f"{name}.png", drawings[name]())
