"""Side information on every component: k searches in one fit, compared with the tensor power method."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture, make_hint
from mixsearch.show.plots import MUTED_COLOR
from paper_experiments.baselines import compute_third_moment, tensor_power
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

NUMBERS, SIZES, D, GAMMA = (5, 10, 20, 40), (4000, 16_000), 100, 0.7
LINES = ("-", "--")


def run_times(case: Case) -> Iterator[Result]:
    """Measure seconds and errors of all components; both have the same fit."""
    k, n = int(case.setting["k"]), int(case.setting["n"])
    data = make_gaussian_mixture(n, D, k, deviation=0.5, weights=np.full(k, 1 / k), random_state=case.seed)
    hints = [make_hint(data.centers, target, gamma=GAMMA, random_state=case.seed) for target in range(k)]
    search = GaussianSearch(k).fit(data.X)
    with limit_threads():
        found, spent = time_call(lambda: [search.search(hint).center for hint in hints])
        everything, power = time_call(lambda: tensor_power(compute_third_moment(search), random_state=case.seed))
    chosen = [everything.find_component(hint).center for hint in hints]
    for method, centers, seconds in (("whitening", found, spent), ("TPM", chosen, power)):
        errors = np.linalg.norm(np.array(centers) - data.centers, axis=1)
        yield Result(method, "seconds", seconds)
        yield Result(method, "error", float(errors.mean()))


def draw(rows: Rows) -> Figure:
    """Draw the seconds of both against the number of components."""
    figure = new_figure(PARALLEL.title, size=(6.4, 3.2))
    axes = figure.subplots()
    for n, style in zip(rows.levels("n"), LINES, strict=False):
        for method in rows.levels("method"):
            part = rows.where(n=n, method=method, metric="seconds")
            means = [part.where(k=k).mean for k in part.levels("k")]
            label = f"{method}, n={n:,}"
            axes.plot(part.levels("k"), means, style, color=choose_color(method), marker="o", markersize=3, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(rows.levels("k"), [f"{k}" for k in rows.levels("k")])
    axes.minorticks_off()
    axes.tick_params(colors=MUTED_COLOR)
    style_axes(axes, "", "number of components, all of them searched", "seconds after the fit")
    add_shared_legend(figure, [axes], n_columns=4)
    return figure


def table(rows: Rows) -> str:
    """Format seconds and errors."""
    cells = [("whitening", "seconds"), ("TPM", "seconds"), ("whitening", "error"), ("TPM", "error")]
    lines = [
        [
            f"{n:,}",
            f"{k}",
            *(format_mean(rows.where(n=n, k=k, method=method, metric=metric)) for method, metric in cells),
        ]
        for n in rows.levels("n")
        for k in rows.levels("k")
    ]
    return format_markdown(["n", "k", "whitening, s", "TPM, s", "whitening, error", "TPM, error"], lines)


PARALLEL: Experiment = Experiment(
    name="parallel",
    shows="section 3.5",
    title=f"All components of a Gaussian mixture from a hint each, d={D}, one core",
    claim="Searching for all k components is faster than TPM if k grows faster than (nd)^(1/3).",
    cases=lambda quick: make_cases([{"k": k, "n": n} for n in SIZES for k in NUMBERS], 1 if quick else 5),
    run=run_times,
    draw=draw,
    table=table,
    seconds=(150, 30),
    sequential=True,
)
