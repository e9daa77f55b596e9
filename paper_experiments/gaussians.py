"""Gaussian mixtures compared with the tensor power method: accuracy, speed, rare components, weak hints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.moments import sum_cubes, symmetrize
from mixsearch.datasets import make_gaussian_mixture, make_hint
from mixsearch.datasets.mixtures import GaussianMixtureData
from mixsearch.paper import gaussian
from mixsearch.paper.algorithms import cancellation, largest_eigenpairs
from mixsearch.show.plots import MUTED_COLOR
from paper_experiments.baselines import ThirdMoment, compute_third_moment, fast_tensor_power, tensor_power
from paper_experiments.baselines.tensor_power import NoiseTerm
from paper_experiments.cancellation import cancel
from paper_experiments.experiment import Case, Experiment, Result, Rows, make_cases
from paper_experiments.figures import (
    FAINT,
    MIN_GAIN,
    Comparison,
    add_shared_legend,
    choose_color,
    format_markdown,
    format_mean,
    limit_threads,
    new_figure,
    style_axes,
    time_call,
)
from paper_experiments.hints import LEAD, make_lead_hint

D, K, GAMMA = 500, 10, 0.7
AUTHORS = "authors'"
Noise = Literal["next", "smallest"]
# The noise level from one eigenvector, as in the paper; from that of the smallest eigenvalue, with the identity as the
# noise term of the tensor power method, as in the authors' programs; or from the whole noise space.
MOMENTS = ("paper's", AUTHORS, "our")
THRESHOLD = 0.05  # of both rules
WEIGHTS = np.linspace(0.04, 0.16, K)
TARGETS = (1, 3, 5, 7, 9)
RAREST = 0.0037
OVER_TPM = Comparison("TPM", "weight of the component")
OVER_TPM_BY_NOISE = Comparison("TPM", "σ", by="sigma", shade=None)
TIME_OVER_TPM = Comparison("TPM", "number of components", logarithmic=True)
SIGMAS, SIZES = (0.4, 0.5), (6000, 8000, 10_000)
RATIOS = (1.05, 1.1, 1.2, 1.35, 1.5, 2.0, 3.0, 5.0)
NUMBERS = (10, 20, 40)
CURVES = ("oracle", "whitening", "cancellation", "cancellation, as printed", "refined")
LINES = ("-", "--")


def run_errors(case: Case) -> Iterator[Result]:
    """Measure the errors of five components of growing weight."""
    data = _draw(case, WEIGHTS)
    answers = _answers(data, case)
    for target in TARGETS:
        hint = make_hint(data.centers, target, gamma=GAMMA, random_state=case.seed)
        yield from _errors(answers, data, target, hint, f"{100 * WEIGHTS[target]:.1f}%")


def run_rare(case: Case) -> Iterator[Result]:
    """Measure the errors of a rare component."""
    data = _draw(case, np.array([RAREST, *[(1 - RAREST) / (K - 1)] * (K - 1)]))
    hint = make_hint(data.centers, 0, gamma=GAMMA, random_state=case.seed)
    yield from _errors(_answers(data, case), data, 0, hint, f"{100 * RAREST:g}%")


def run_sensitivity(case: Case) -> Iterator[Result]:
    """Measure errors for hints of growing strength: from 1.05 to 5 times the score of the runner-up."""
    data = _draw(case, np.full(20, 0.05))
    answers = _answers(data, case)
    for ratio in RATIOS:
        yield from _errors(answers, data, 0, make_lead_hint(data.centers, ratio, case.seed), f"{ratio:g}")


def run_speed(case: Case) -> Iterator[Result]:
    """Seconds from samples to one component."""
    k, choice = int(case.setting["k"]), str(case.setting["moments"])
    data = _draw(case, np.full(k, 1 / k))
    hint = make_hint(data.centers, 0, gamma=GAMMA, random_state=case.seed)
    with limit_threads():
        search, fit = time_call(lambda: _fit(data.X, k, choice))
        third, moment = time_call(lambda: compute_third_moment(search))
        spent = {
            "whitening": fit + time_call(lambda: search.search(hint).center)[1],
            "refined": fit + time_call(lambda: search.search(hint, refine=True).center)[1],
            "cancellation": fit + time_call(lambda: cancel(search.search(hint), THRESHOLD))[1],
            "Fast-TPM": fit + moment + time_call(lambda: fast_tensor_power(third, hint))[1],
            "TPM": fit
            + moment
            + time_call(lambda: tensor_power(third, random_state=case.seed).find_component(hint))[1],
        }
        if choice != "our":
            spent["cancellation, as printed"] = time_call(lambda: _cancel(data.X, hint, k, noise="next"))[1]
    yield from (Result(method, "seconds", seconds, target=f"k={k}") for method, seconds in spent.items())


def _fit(X: Array, k: int, choice: str) -> GaussianSearch:
    return GaussianSearch(k, preset="default" if choice == "our" else "paper").fit(X)


def _cancel(X: Array, hint: Array, k: int, *, noise: Noise, projected: bool = False) -> Array:
    """Return the center by Algorithm 2 with the choices of section 4.1, as printed unless `projected`, (d,)."""
    m, A, B = gaussian.moments(X, hint, k, noise=noise)
    return cancellation(A, B, m, k, projected=projected, threshold=THRESHOLD, v=hint)[0]


def _whiten_as_authors(X: Array, hint: Array, k: int) -> Array:
    """Return the center of the top singular vector, with the smallest eigenvalue as the noise level, (d,)."""
    m, A, B = gaussian.moments(X, hint, k, noise="smallest")
    sigma, V = largest_eigenpairs(A, k)
    W = V / np.sqrt(sigma)
    scores, U = np.linalg.eigh(W.T @ B @ W)
    u = U[:, np.abs(scores).argmax()]
    return np.asarray(V @ (np.sqrt(sigma) * u) / (u @ W.T @ m))


def _compute_authors_moment(X: Array, k: int, *, noise_term: NoiseTerm) -> ThirdMoment:
    """Compute the third moment with the smallest eigenvalue as the noise level."""
    mean, n = X.mean(axis=0), len(X)
    values, vectors = np.linalg.eigh((X - mean).T @ (X - mean) / n)
    sigma, V = largest_eigenpairs(X.T @ X / n - values[0] * np.eye(X.shape[1]), k)
    W = V / np.sqrt(sigma)
    Y = X @ W
    noise_mean = Y.T @ ((X - mean) @ vectors[:, 0]) ** 2 / n
    noise = W.T @ W if noise_term == "whitened" else np.eye(k)
    tensor = sum_cubes(Y, Y, np.full(n, 1 / n)) - symmetrize(np.multiply.outer(noise, noise_mean))
    return ThirdMoment(Frame(V, sigma), tensor, W.T @ mean)


Answer = Callable[[Array], Array]  # from a hint to a center, (d,)


class _Answers(NamedTuple):
    """The methods, and the centers of someone who knows every label."""

    methods: dict[str, Answer]
    oracle: Array  # (k, d)


def _draw(case: Case, weights: Array) -> GaussianMixtureData:
    return make_gaussian_mixture(
        int(case.setting["n"]),
        D,
        len(weights),
        deviation=float(case.setting["sigma"]),
        weights=weights,
        random_state=case.seed,
    )


def _answers(data: GaussianMixtureData, case: Case) -> _Answers:
    answer = _answer_as_authors if case.setting["moments"] == AUTHORS else _answer_by_search
    return _Answers(answer(data.X, len(data.weights), str(case.setting["moments"]), case.seed), data.oracle())


def _answer_by_search(X: Array, k: int, choice: str, seed: int) -> dict[str, Answer]:
    search = _fit(X, k, choice)
    third = compute_third_moment(search)
    by_value, by_mean = (tensor_power(third, normaliser=kind, random_state=seed) for kind in ("value", "mean"))
    methods: dict[str, Answer] = {
        "whitening": lambda hint: search.search(hint).center,
        "cancellation": lambda hint: cancel(search.search(hint), THRESHOLD),
        "Fast-TPM": lambda hint: fast_tensor_power(third, hint).center,
        "TPM": lambda hint: by_value.find_component(hint).center,
        "TPM by the mean": lambda hint: by_mean.find_component(hint).center,
    }
    if choice == "our":
        return methods | {"refined": lambda hint: search.search(hint, refine=True).center}
    return methods | {"cancellation, as printed": lambda hint: _cancel(X, hint, k, noise="next")}


def _answer_as_authors(X: Array, k: int, _: str, seed: int) -> dict[str, Answer]:
    third, corrected = (_compute_authors_moment(X, k, noise_term=term) for term in ("identity", "whitened"))
    theirs, right = (tensor_power(moment, random_state=seed) for moment in (third, corrected))
    return {
        "whitening": lambda hint: _whiten_as_authors(X, hint, k),
        "cancellation": lambda hint: _cancel(X, hint, k, noise="smallest", projected=True),
        "Fast-TPM": lambda hint: fast_tensor_power(third, hint).center,
        "TPM": lambda hint: theirs.find_component(hint).center,
        "TPM, right noise term": lambda hint: right.find_component(hint).center,
        "cancellation, as printed": lambda hint: _cancel(X, hint, k, noise="smallest"),
    }


def _errors(answers: _Answers, data: GaussianMixtureData, target: int, hint: Array, name: str) -> Iterator[Result]:
    truth = data.centers[target]
    for method, answer in answers.methods.items():
        yield Result(method, "error", float(np.linalg.norm(answer(hint) - truth)), target=name)
    yield Result("oracle", "error", float(np.linalg.norm(answers.oracle[target] - truth)), target=name)


def _settings(sigmas: tuple[float, ...], sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    return [{"moments": choice, "sigma": sigma, "n": n} for choice in MOMENTS for sigma in sigmas for n in sizes]


def draw_sensitivity(rows: Rows) -> Figure:
    """Gain over the tensor power method against the lead of the target under the hint."""
    choices, sizes = rows.levels("moments"), rows.levels("n")
    figure = new_figure(SENSITIVITY.title, len(choices), len(sizes), (5.4, 2.9))
    grid = figure.subplots(len(choices), len(sizes), squeeze=False, sharey="row", sharex=True)
    for (line, choice), (column, n) in product(enumerate(choices), enumerate(sizes)):
        axes, panel = grid[line, column], rows.where(moments=choice, n=n)
        axes.axhline(0, color=MUTED_COLOR, linewidth=0.8)
        for method, (sigma, style) in product(CURVES, zip(panel.levels("sigma"), LINES, strict=False)):
            _draw_curve(axes, panel.where(sigma=sigma), method, style, f"{method}, σ={sigma:g}")
        axes.set_xscale("log")
        axes.set_xticks([float(ratio) for ratio in RATIOS[1:]], [f"{ratio:g}" for ratio in RATIOS[1:]])
        axes.minorticks_off()
        axes.set_ylim(bottom=max(axes.get_ylim()[0], MIN_GAIN))
        style_axes(axes, f"{choice} moments, n={n:,}", LEAD, "error gain over TPM, %" if column == 0 else "")
    add_shared_legend(figure, grid.flat, n_columns=len(CURVES))
    return figure


def _draw_curve(axes: Axes, rows: Rows, method: str, style: str, name: str) -> None:
    if method not in rows.levels("method"):
        return
    ratios = rows.levels("target")
    values, errors = np.array([OVER_TPM.gain(rows.where(target=ratio), method) for ratio in ratios]).T
    color, width = (FAINT, 3.0) if method == "oracle" else (choose_color(method), 1.2)
    axes.errorbar([*map(float, ratios)], values, errors, fmt=style, color=color, linewidth=width, label=name)


def format_sensitivity(rows: Rows) -> str:
    """Format mean errors for each strength of the hint."""
    methods = rows.levels("method")
    lines = [
        [
            choice,
            f"{ratio}",
            *(format_mean(rows.where(moments=choice, target=ratio, method=method)) for method in methods),
        ]
        for choice in rows.levels("moments")
        for ratio in rows.levels("target")
    ]
    return format_markdown(["moments", LEAD, *methods], lines)


ERRORS: Experiment = Experiment(
    name="gmm-error",
    shows="Figure 1",
    title=f"Gaussians: error gain over the tensor power method, k={K}, d={D}",
    claim="Whitening and cancellation gain over TPM, more for larger weights, variances, samples; Fast-TPM equals TPM.",
    cases=lambda quick: make_cases(_settings(SIGMAS, SIZES), 2 if quick else 20),
    run=run_errors,
    draw=lambda rows: OVER_TPM.draw_gains(rows, ERRORS.title),
    table=OVER_TPM.format_errors,
    page=OVER_TPM.format_gains,
    seconds=(300, 30),
)
RARE: Experiment = Experiment(
    name="gmm-rare",
    shows="Figure 2",
    title=f"A rare Gaussian of weight {RAREST:g}: error gain over the tensor power method, k={K}, d={D}",
    claim="Whitening finds even the rarest component, with a gain that grows with the number of samples.",
    cases=lambda quick: make_cases(_settings((0.3, 0.4, 0.5, 0.6), (5000, 6000, 8000)), 2 if quick else 20),
    run=run_rare,
    draw=lambda rows: OVER_TPM_BY_NOISE.draw_gains(rows, RARE.title),
    table=OVER_TPM_BY_NOISE.format_errors,
    page=OVER_TPM_BY_NOISE.format_gains,
    seconds=(360, 36),
)
SPEED: Experiment = Experiment(
    name="gmm-speedup",
    shows="Figure 3",
    title=f"Gaussians: speed-up over the tensor power method, d={D}",
    claim="Whitening is the fastest, then Fast-TPM, then cancellation; all are much faster than TPM.",
    cases=lambda quick: make_cases(
        [
            {**setting, "k": k}
            for setting in _settings(SIGMAS, SIZES)
            if setting["moments"] != AUTHORS  # their work is the same
            for k in NUMBERS
        ],
        1 if quick else 3,
    ),
    run=run_speed,
    draw=lambda rows: TIME_OVER_TPM.draw_speedups(rows, SPEED.title),
    table=TIME_OVER_TPM.format_times,
    seconds=(210, 70),
    sequential=True,
)
SENSITIVITY: Experiment = Experiment(
    name="gmm-sensitivity",
    shows="Figure 9",
    title=f"Gaussians from weaker and weaker hints: error gain over the tensor power method, k=20, d={D}",
    claim="The gain falls as the lead of the target under the hint falls, and turns negative; cancellation less so.",
    cases=lambda quick: make_cases(_settings((0.5, 0.6), (6000, 8000)), 2 if quick else 20),
    run=run_sensitivity,
    draw=draw_sensitivity,
    table=format_sensitivity,
    page=lambda rows: format_sensitivity(Rows(row for row in rows if row.target in ("1.05", "1.5", "5"))),
    seconds=(300, 30),
)
