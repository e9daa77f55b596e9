"""Mixed regressions compared with EM: accuracy and time. The paper derives their moments without an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mixsearch import RegressionSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_hint, make_mixed_regression
from mixsearch.datasets.mixtures import MixedRegressionData
from paper_experiments.baselines import em_regressions
from paper_experiments.experiment import Case, Experiment, Result, Rows, make_cases
from paper_experiments.figures import (
    add_shared_legend,
    choose_color,
    format_markdown,
    format_mean,
    limit_threads,
    new_figure,
    style_axes,
    time_call,
)

D, WEIGHTS, GAMMA = 50, np.array([0.2, 0.3, 0.5]), 0.7
N_STARTS = 3
PAPER: dict[str, Any] = {"preset": "paper"}

Answer = Callable[[Array], Array]


def run_errors(case: Case) -> Iterator[Result]:
    """Measure the errors of all regressions, and the seconds from samples to the first of them."""
    n, sigma = int(case.setting["n"]), float(case.setting["sigma"])
    data = make_mixed_regression(n, D, len(WEIGHTS), deviation=sigma, weights=WEIGHTS, random_state=case.seed)
    hints = [make_hint(data.centers, i, gamma=GAMMA, random_state=case.seed) for i in range(len(WEIGHTS))]
    oracle = data.oracle()
    for method, fit in _methods(case.seed).items():
        with limit_threads():
            answer, fitting = time_call(fit, data)
            _, searching = time_call(answer, hints[0])
        yield Result(method, "seconds", fitting + searching)
        for hint, truth, weight in zip(hints, data.centers, WEIGHTS, strict=True):
            yield Result(method, "error", float(np.linalg.norm(answer(hint) - truth)), target=f"{100 * weight:.0f}%")
    for center, truth, weight in zip(oracle, data.centers, WEIGHTS, strict=True):
        yield Result("oracle", "error", float(np.linalg.norm(center - truth)), target=f"{100 * weight:.0f}%")


def _methods(seed: int) -> dict[str, Callable[[MixedRegressionData], Answer]]:
    """Return each method as a function from samples to a function from hints to coefficients, (d,)."""
    k = len(WEIGHTS)

    def moments(data: MixedRegressionData, refine: bool = False, **options: Any) -> Answer:
        search = RegressionSearch(k, **options).fit(data.X, data.y)
        return lambda hint: search.search(hint, refine=refine).center

    return {
        "whitening, paper's moments": lambda data: moments(data, **PAPER),
        "whitening": moments,
        "refined": lambda data: moments(data, refine=True),
        "EM": lambda data: em_regressions(data.X, data.y, k, n_init=N_STARTS, random_state=seed).find_component,
    }


def draw(rows: Rows) -> Figure:
    """Draw errors and seconds against the number of samples."""
    sigmas = rows.levels("sigma")
    figure = new_figure(ERRORS.title, 1, len(sigmas) + 1, (4.4, 3.4))
    *panels, times = figure.subplots(1, len(sigmas) + 1)
    for axes, sigma in zip(panels, sigmas, strict=True):
        _draw_lines(axes, rows.where(metric="error", sigma=sigma))
        style_axes(axes, f"σ={sigma:g}", "samples", "error" if axes is panels[0] else "")
    _draw_lines(times, rows.where(metric="seconds"))
    style_axes(times, "time, from samples to one regression", "samples", "seconds")
    add_shared_legend(figure, panels)
    return figure


def _draw_lines(axes: Axes, rows: Rows) -> None:
    sizes = rows.levels("n")
    for method in rows.levels("method"):
        parts = [rows.where(n=n, method=method) for n in sizes]
        style = {"oracle": (0, (2, 1.5)), "whitening, paper's moments": "--", "EM": ":"}.get(method, "-")
        means, errors = [part.mean for part in parts], [part.stderr for part in parts]
        axes.errorbar(
            sizes, means, errors, linestyle=style, marker="o", markersize=3, color=choose_color(method), label=method
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axes.minorticks_off()


def table(rows: Rows) -> str:
    """Format mean errors and seconds."""
    methods = rows.levels("method")
    lines = [
        [
            metric,
            f"{sigma}",
            f"{n:,}",
            *(format_mean(rows.where(metric=metric, sigma=sigma, n=n, method=m)) for m in methods),
        ]
        for metric in rows.levels("metric")
        for sigma in rows.levels("sigma")
        for n in rows.levels("n")
    ]
    return format_markdown(["", "sigma", "n", *methods], lines)


ERRORS: Experiment = Experiment(
    name="regression-error",
    shows="beyond the paper",
    title=f"Regressions, k={len(WEIGHTS)}, d={D}, compared with EM from {N_STARTS} random starts",
    claim="None: the paper derives the moments and shows no experiment.",
    cases=lambda quick: make_cases(
        [{"sigma": sigma, "n": n} for sigma in (0.1, 0.3) for n in (10_000, 20_000, 40_000)], 1 if quick else 5
    ),
    run=run_errors,
    draw=draw,
    table=table,
    seconds=(300, 60),
    sequential=True,
)
