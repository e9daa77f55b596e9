"""The signal space by randomized SVD, by the block solver of the package and by LAPACK: time, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from matplotlib.figure import Figure
from sklearn.utils.extmath import randomized_svd

from mixsearch._typing import Array
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.moments import second_moment
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_gaussian_mixture, make_hint
from mixsearch.paper.algorithms import whitening
from paper_experiments.experiment import Case, Experiment, Result, Rows, make_cases
from paper_experiments.figures import (
    Bars,
    Estimate,
    add_shared_legend,
    draw_bars,
    format_markdown,
    format_mean,
    limit_threads,
    new_figure,
    style_axes,
    time_call,
)

K, D, N, GAMMA = 10, 1000, 8000, 0.7
DEVIATIONS, POWER_STEPS = (0.5, 1.0, 1.5), (0, 1, 2, 4)
LAPACK, BLOCK = "LAPACK", "block solver"
COLORS = ("#8A9099", "#0072B2", "#F6C9A5", "#EDA36F", "#E0803C", "#D55E00")


def run_solvers(case: Case) -> Iterator[Result]:
    """Find the signal space with each solver, then the component from the same samples and the same hint."""
    data = make_gaussian_mixture(N, D, K, deviation=float(case.setting["sigma"]), random_state=case.seed)
    hint, target = make_hint(data.centers, 0, gamma=GAMMA, random_state=case.seed), data.centers[0]
    for method, solve in _solvers(case.seed).items():
        with limit_threads():
            basis, seconds = time_call(solve, data.X)
        yield Result(method, "seconds", seconds)
        yield Result(method, "error", float(np.linalg.norm(search_in_space(data.X, basis, hint) - target)))


def _solvers(seed: int) -> dict[str, Callable[[Array], Array]]:
    """Return functions from samples, (n, d), to an orthonormal basis of the signal space, (d, k)."""

    def by_lapack(X: Array) -> Array:
        return np.linalg.eigh(X.T @ X)[1][:, -K:]

    def by_blocks(X: Array) -> Array:
        return top_eigenpairs(second_moment(chunk_in_memory(X)), K, seed=seed).vectors

    def by_randomized_svd(n_steps: int) -> Callable[[Array], Array]:
        return lambda X: np.asarray(randomized_svd(X, K, n_iter=n_steps, random_state=seed)[2].T)

    return {LAPACK: by_lapack, BLOCK: by_blocks, **{name_of(n): by_randomized_svd(n) for n in POWER_STEPS}}


def name_of(n_steps: int) -> str:
    """Return the name of randomized SVD with some power steps."""
    return f"randomized SVD, {n_steps} power step{'' if n_steps == 1 else 's'}"


def search_in_space(X: Array, basis: Array, hint: Array) -> Array:
    """Return the center that a hint means, (d,), from the moments inside a given signal space."""
    Z, v = X @ basis, basis.T @ hint
    n, k = Z.shape
    energy = (np.einsum("ij,ij->i", X, X) - np.einsum("ij,ij->i", Z, Z)) / (X.shape[1] - k)
    noisy, eye = energy @ Z / n, np.eye(k)
    third = (Z.T * (Z @ v)) @ Z / n - np.outer(noisy, v) - np.outer(v, noisy) - (noisy @ v) * eye
    return basis @ whitening(Z.T @ Z / n - energy.mean() * eye, third, Z.mean(axis=0), k)[0]


def draw(rows: Rows) -> Figure:
    """Draw the errors relative to LAPACK's, and the seconds."""
    figure = new_figure(SOLVERS.title, 1, 2, (4.6, 3.2))
    panels, sigmas = figure.subplots(1, 2), rows.levels("sigma")
    for axes, metric in zip(panels, ("error", "seconds"), strict=True):
        series = []
        for method, color in zip(rows.levels("method"), COLORS, strict=True):
            parts = [rows.where(method=method, metric=metric, sigma=sigma) for sigma in sigmas]
            units = [
                rows.where(method=LAPACK, metric=metric, sigma=sigma).mean if metric == "error" else 1.0
                for sigma in sigmas
            ]
            heights = [Estimate(part.mean / unit, part.stderr / unit) for part, unit in zip(parts, units, strict=True)]
            series.append(Bars(method, color, heights))
        draw_bars(axes, [f"σ={sigma:g}" for sigma in sigmas], series)
    style_axes(panels[0], "error of the component", y="relative to LAPACK's signal space")
    style_axes(panels[1], "time to the signal space", y="seconds")
    add_shared_legend(figure, panels, n_columns=3)
    return figure


def table(rows: Rows) -> str:
    """Format errors and seconds."""
    sigmas = rows.levels("sigma")
    lines = [
        [
            method,
            *(
                format_mean(rows.where(method=method, metric=metric, sigma=sigma))
                for metric in ("error", "seconds")
                for sigma in sigmas
            ),
        ]
        for method in rows.levels("method")
    ]
    names = [f"{metric}, σ={sigma:g}" for metric in ("error", "seconds") for sigma in sigmas]
    return format_markdown(["solver", *names], lines)


SOLVERS: Experiment = Experiment(
    name="solvers",
    shows="section 3.5",
    title=f"The signal space of a Gaussian mixture, k={K}, d={D}, n={N:,}, one core",
    claim="Randomized SVD would speed up whitening, cancellation and TPM further, at a lower accuracy.",
    cases=lambda quick: make_cases([{"sigma": sigma} for sigma in DEVIATIONS], 2 if quick else 10),
    run=run_solvers,
    draw=draw,
    table=table,
    seconds=(120, 30),
    sequential=True,
)
