"""A few labeled samples with many unlabeled ones, compared with labeled samples alone: the promise of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, StrMethodFormatter
from sklearn.cluster import KMeans
from sklearn.linear_model import RidgeCV

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces, make_topics
from mixsearch.show.plots import MUTED_COLOR
from paper_experiments.baselines import compute_third_moment, em_regressions, kmeans_subspaces, tensor_power
from paper_experiments.experiment import Case, Experiment, Result, Rows, make_cases
from paper_experiments.figures import (
    Estimate,
    add_shared_legend,
    choose_color,
    compute_ratio,
    format_markdown,
    new_figure,
    style_axes,
)
from paper_experiments.subspaces import compute_distance

N_LABELS = (1, 2, 5, 10, 20, 50, 100)
ALONE = "labels alone"
# Peers that find every component and use the labels only to choose one of them.
WHOLE = ("k-means", "EM", "TPM")
# The panels: a family and its number of features.
PANELS = (
    ("Gaussians", 50),
    ("Gaussians", 200),
    ("Gaussians", 800),
    ("regressions", 20),
    ("subspaces", 100),
    ("topics", 500),
)
# A document whose share of the topic is larger can get its label.
MIN_SHARE = 0.8

Answer = Callable[[Array], Array]  # from the rows of labeled samples to the parameter


class Task(NamedTuple):
    """One component of a mixture to be found from labeled samples."""

    members: Array  # rows that may be labeled
    methods: Mapping[str, Answer]
    truth: Array
    oracle: Array  # the estimate of someone who knows every label
    measure: Callable[[Array, Array], float]


def run_errors(case: Case) -> Iterator[Result]:
    """Measure errors from growing numbers of labeled samples."""
    task = _TASKS[str(case.setting["family"])](int(case.setting["d"]), case.seed)
    order = np.random.default_rng(case.seed).permutation(task.members)
    for n_labels in N_LABELS:
        if n_labels <= len(order):
            for method, answer in task.methods.items():
                error = task.measure(answer(order[:n_labels]), task.truth)
                yield Result(method, "error", error, target=f"{n_labels}")
            yield Result("oracle", "error", task.measure(task.oracle, task.truth), target=f"{n_labels}")


def _distance(found: Array, truth: Array) -> float:
    return float(np.linalg.norm(found - truth))


def _gaussians(d: int, seed: int) -> Task:
    k = 10
    data = make_gaussian_mixture(8000, d, k, deviation=1.5, weights=np.full(k, 1 / k), random_state=seed)
    search = GaussianSearch(k).fit(data.X)
    clusters = KMeans(k, n_init=1, random_state=seed).fit(data.X)
    methods: dict[str, Answer] = {
        ALONE: lambda rows: data.X[rows].mean(axis=0),
        "k-means": lambda rows: clusters.cluster_centers_[np.bincount(clusters.labels_[rows]).argmax()],
        "whitening": lambda rows: search.search(examples=data.X[rows]).center,
        "refined": lambda rows: search.search(examples=data.X[rows], refine=True).center,
    }
    return Task(np.flatnonzero(data.labels == 0), methods, data.centers[0], data.oracle()[0], _distance)


def _regressions(d: int, seed: int) -> Task:
    k = 3
    data = make_mixed_regression(20_000, d, k, deviation=0.3, weights=np.full(k, 1 / k), random_state=seed)
    search = RegressionSearch(k).fit(data.X, data.y)
    fitted = em_regressions(data.X, data.y, k, n_init=3, random_state=seed)

    def alone(rows: Array) -> Array:
        return np.asarray(RidgeCV(np.logspace(-4, 3, 15), fit_intercept=False).fit(data.X[rows], data.y[rows]).coef_)

    def likeliest(rows: Array) -> Array:
        residuals = data.y[rows, None] - data.X[rows] @ fitted.centers.T - fitted.intercepts
        return np.asarray(fitted.centers[np.argmin((residuals**2).sum(axis=0))])

    methods: dict[str, Answer] = {
        ALONE: alone,
        "EM": likeliest,
        "whitening": lambda rows: search.search(examples=(data.X[rows], data.y[rows]), refine=False).center,
        "refined": lambda rows: search.search(examples=(data.X[rows], data.y[rows]), refine=True).center,
    }
    return Task(np.flatnonzero(data.labels == 0), methods, data.centers[0], data.oracle()[0], _distance)


def _subspaces(d: int, seed: int) -> Task:
    k, r = 5, 3
    data = make_subspaces(6000, d, k, dim=r, deviation=0.2, weights=np.full(k, 1 / k), random_state=seed)
    search = SubspaceSearch(k, dim=r).fit(data.X)
    clusters = kmeans_subspaces(data.X, k, r, random_state=seed)

    def alone(rows: Array) -> Array:
        return np.asarray(np.linalg.svd(data.X[rows].T)[0][:, :r])

    def nearest(rows: Array) -> Array:
        return np.asarray(clusters.bases[np.argmax(np.linalg.norm(data.X[rows] @ clusters.bases, axis=(1, 2)))])

    methods: dict[str, Answer] = {
        ALONE: alone,
        "k-means": nearest,
        "whitening": lambda rows: search.search(examples=data.X[rows], refine=False).basis,
        "refined": lambda rows: search.search(examples=data.X[rows], refine=True).basis,
    }
    return Task(np.flatnonzero(data.labels == 0), methods, data.bases[0], data.oracle()[0], compute_distance)


def _topics(d: int, seed: int) -> Task:
    k = 5
    data = make_topics(4000, d, k, mean_length=200, alpha=0.1, random_state=seed)
    search = LdaSearch(k, alpha0=0.1 * k).fit(data.counts)
    everything = tensor_power(compute_third_moment(search), random_state=seed)

    def alone(rows: Array) -> Array:
        words = np.asarray(data.counts[rows].sum(axis=0), dtype=np.float64)
        return np.asarray(words / words.sum())

    def find(rows: Array, *, refine: bool) -> Array:
        return search.search(examples=data.counts[rows], refine=refine).center

    methods: dict[str, Answer] = {
        ALONE: alone,
        "TPM": lambda rows: everything.find_component(alone(rows)).center,
        "whitening": lambda rows: find(rows, refine=False),
        "refined": lambda rows: find(rows, refine=True),
    }
    return Task(np.flatnonzero(data.shares[:, 0] > MIN_SHARE), methods, data.topics[0], data.oracle()[0], _distance)


_TASKS = {"Gaussians": _gaussians, "regressions": _regressions, "subspaces": _subspaces, "topics": _topics}


def compute_excess(rows: Rows, method: str) -> Estimate:
    """Return the mean error over the oracle's on the same samples."""
    return compute_ratio(rows.where(method=method).values, rows.where(method="oracle").values)


def draw(rows: Rows) -> Figure:
    """Draw errors relative to the oracle's against the number of labeled samples."""
    panels = _list_panels(rows)
    n_columns = min(len(panels), 3)
    figure = new_figure(LABELS.title, -(-len(panels) // n_columns), n_columns, (4.2, 2.9))
    grid = figure.subplots(-(-len(panels) // n_columns), n_columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (family, d) in zip(grid.flat, panels, strict=False):
        _draw_lines(axes, rows.where(family=family, d=d))
        is_first = axes in grid[:, 0]
        style_axes(axes, f"{family}, d={d:,}", "labeled samples", "error / oracle's error" if is_first else "")
    add_shared_legend(figure, grid.flat)
    return figure


def _list_panels(rows: Rows) -> list[tuple[str, int]]:
    return list(dict.fromkeys((str(row.cell("family")), int(row.cell("d"))) for row in rows))


def _draw_lines(axes: Axes, rows: Rows) -> None:
    targets = rows.levels("target")
    numbers = [int(target) for target in targets]
    axes.axhline(1, color=MUTED_COLOR, linewidth=0.8)
    for index, method in enumerate(rows.levels("method")):
        if method != "oracle":
            ratios, errors = np.array([compute_excess(rows.where(target=target), method) for target in targets]).T
            line = {
                "color": choose_color(method, index),
                "linestyle": "--" if method in WHOLE else "-",
                "label": method,
            }
            axes.errorbar(numbers, ratios, errors, marker="o", markersize=3, linewidth=1.2, **line)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(numbers, [f"{number}" for number in numbers])
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.minorticks_off()


def table(rows: Rows) -> str:
    """Format errors relative to the oracle's, and the oracle's own."""
    methods = [method for method in rows.levels("method") if method != "oracle"]
    lines = []
    for family, d in _list_panels(rows):
        panel = rows.where(family=family, d=d)
        for target in panel.levels("target"):
            part = panel.where(target=target)
            cells = (
                f"{compute_excess(part, method).value:.3g}" if len(part.where(method=method)) else ""
                for method in methods
            )
            lines.append([family, f"{d:,}", target, *cells, f"{part.where(method='oracle').mean:.3g}"])
    return format_markdown(["family", "d", "labels", *methods, "oracle's error"], lines)


LABELS: Experiment = Experiment(
    name="labels",
    shows="beyond the paper",
    title="A few labeled samples with unlabeled ones, compared with labeled samples alone",
    claim="A small amount of side information about one component is enough to find it, without the others.",
    cases=lambda quick: make_cases([{"family": family, "d": d} for family, d in PANELS], 1 if quick else 5),
    run=run_errors,
    draw=draw,
    table=table,
    page=lambda rows: table(Rows(row for row in rows if row.target in ("1", "5", "100"))),
    seconds=(90, 18),
)
