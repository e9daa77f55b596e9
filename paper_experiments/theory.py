"""Errors against each quantity of the theorems, compared with the exponents in the bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, StrMethodFormatter

from mixsearch import GaussianSearch, RegressionSearch, SubspaceSearch, search_family
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics
from mixsearch.paper import lda
from mixsearch.paper.algorithms import cancellation, whitening
from mixsearch.show.plots import MUTED_COLOR
from paper_experiments.experiment import Case, Experiment, Result, Rows, make_cases
from paper_experiments.figures import add_shared_legend, choose_color, format_markdown, new_figure, style_axes
from paper_experiments.subspaces import compute_distance

K, D, EPSILON = 5, 40, 1e-5
WHITENING, CANCELLATION = "whitening", "cancellation, as printed"
# Axes of a smaller range have labels between powers of ten.
MAX_FACTOR = 30


class Sweep(NamedTuple):
    """One quantity and how the error depends on it."""

    label: str
    values: tuple[float, ...]
    exponent: float  # of the theorem's bound
    measure: Callable[[float, np.random.RandomState], float]  # from a value and a seed to an error
    method: str = WHITENING


def run_errors(case: Case) -> Iterator[Result]:
    """Measure the errors over all values of one quantity."""
    sweep = SWEEPS[str(case.setting["quantity"])]
    for value in sweep.values:
        error = sweep.measure(value, np.random.RandomState(case.seed))
        yield Result(sweep.method, "error", error, target=f"{value:g}")


Extract = Callable[[Array, Array, Array, int], tuple[Array, float]]  # from A, B, m and k to a center and a weight


def _error_of_moments(
    centers: Array,
    weights: Array,
    scores: Array,
    epsilon: float,
    rng: np.random.RandomState,
    extract: Extract = whitening,
) -> float:
    """Return the error of the first center from moments that are off by ε in spectral norm."""
    hint = np.linalg.pinv(centers) @ scores
    second, hinted = ((centers.T * (weights * factors)) @ centers for factors in (np.ones(len(weights)), scores))
    noisy = [matrix + _symmetric_noise(len(hint), epsilon, rng) for matrix in (second, hinted)]
    mean = weights @ centers + epsilon * _unit(rng.standard_normal(len(hint)))
    return float(np.linalg.norm(extract(noisy[0], noisy[1], mean, len(weights))[0] - centers[0]))


def _symmetric_noise(d: int, epsilon: float, rng: np.random.RandomState) -> Array:
    noise = rng.standard_normal((d, d))
    noise = noise + noise.T
    return np.asarray(epsilon * noise / np.linalg.norm(noise, 2))


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))


def _directions(k: int, rng: np.random.RandomState) -> Array:
    return np.linalg.qr(rng.standard_normal((D, k)))[0].T


def _by_epsilon(value: float, rng: np.random.RandomState, extract: Extract = whitening) -> float:
    return _error_of_moments(_directions(K, rng), np.full(K, 1 / K), np.linspace(1, 0.2, K), value, rng, extract)


def _by_lead(value: float, rng: np.random.RandomState, extract: Extract = whitening) -> float:
    scores = np.array([1 + value, *np.linspace(1, 0.2, K - 1)])
    return _error_of_moments(_directions(K, rng), np.full(K, 1 / K), scores / scores[0], EPSILON, rng, extract)


def _by_distance(value: float, rng: np.random.RandomState) -> float:
    """Bring the target near the span of the others, with scores as they are."""
    centers = _directions(K, rng)
    centers[0] = value * centers[0] + np.sqrt(1 - value**2) * _unit(centers[1:].sum(axis=0))
    return _error_of_moments(centers, np.full(K, 1 / K), np.linspace(1, 0.2, K), EPSILON, rng, cancellation)


def _by_smallest_value(value: float, rng: np.random.RandomState) -> float:
    """Shrink another component, whose own error does not count."""
    centers = _directions(K, rng) * np.append(np.ones(K - 1), np.sqrt(value))[:, None]
    return _error_of_moments(centers, np.full(K, 1 / K), np.linspace(1, 0.2, K), EPSILON, rng)


def _by_weight(value: float, rng: np.random.RandomState) -> float:
    weights = np.array([value, *np.full(K - 1, (1 - value) / (K - 1))])
    return _error_of_moments(_directions(K, rng), weights, np.linspace(1, 0.2, K), EPSILON, rng)


def _by_components(value: float, rng: np.random.RandomState) -> float:
    """Keep A's eigenvalues and the lead as they are: weights do not fall as 1/k here."""
    k = int(value)
    scores = np.append(1.0, np.full(k - 1, 0.5))
    return _error_of_moments(_directions(k, rng), np.full(k, 0.2), scores, EPSILON, rng)


def _by_features(value: float, rng: np.random.RandomState) -> float:
    data = make_gaussian_mixture(8000, int(value), K, deviation=1.0, weights=np.full(K, 1 / K), random_state=rng)
    family = GaussianSearch(K).fit(data.X)._family
    found = search_family(family, make_hint(data.centers, gamma=0.9), rehint=False)
    return float(np.linalg.norm(found.center - data.centers[0]))


def _by_samples(value: float, rng: np.random.RandomState) -> float:
    data = make_gaussian_mixture(int(value), D, K, deviation=1.0, weights=np.full(K, 1 / K), random_state=rng)
    family = GaussianSearch(K).fit(data.X)._family
    found = search_family(family, make_hint(data.centers, gamma=0.9), rehint=False)
    return float(np.linalg.norm(found.center - data.centers[0]))


def _by_features_of_regressions(value: float, rng: np.random.RandomState) -> float:
    data = make_mixed_regression(40_000, int(value), 3, deviation=0.1, weights=np.full(3, 1 / 3), random_state=rng)
    search = RegressionSearch(3, preset="paper").fit(data.X, data.y)
    found = search.search(make_hint(data.centers, gamma=0.95), refine=False)
    return float(np.linalg.norm(found.center - data.centers[0]) / np.linalg.norm(data.centers[0]))


def _by_words(value: float, rng: np.random.RandomState) -> float:
    """Let the vocabulary grow, with topics of as many frequent words as before."""
    data = make_topics(3000, int(value), 3, mean_length=100, alpha=0.1, concentration=20 / value, random_state=rng)
    m, A, B = lda.moments(data.counts.toarray(), np.eye(int(value))[data.labelled_word(0)], 0.3, distinct=True)
    center, _ = whitening(A, B, m, 3)
    return float(np.linalg.norm(center - data.topics[0]) / np.linalg.norm(data.topics[0]))


def _by_dimension(value: float, rng: np.random.RandomState) -> float:
    data = make_subspaces(8000, 60, 3, dim=int(value), deviation=0.1, weights=np.full(3, 1 / 3), random_state=rng)
    search = SubspaceSearch(3, dim=int(value), preset="paper").fit(data.X)
    found = search.search(make_hint(data.bases, gamma=0.95), refine=False)
    return compute_distance(found.basis, data.bases[0])


SWEEPS = {
    "epsilon": Sweep("error ε of the moments", (1e-7, 1e-6, 1e-5, 1e-4, 1e-3), 1.0, _by_epsilon),
    "delta": Sweep("lead δ of the target", (0.01, 0.03, 0.1, 0.3, 1.0), -1.0, _by_lead),
    "sigma": Sweep("smallest eigenvalue of A, relative", (0.003, 0.01, 0.03, 0.1, 0.3, 1.0), -2.5, _by_smallest_value),
    "alpha": Sweep("weight α of the target, the rarest", (0.003, 0.01, 0.03, 0.1, 0.2), -3.0, _by_weight),
    "k": Sweep("number k of components", (2, 4, 8, 16, 32), 0.0, _by_components),
    "n": Sweep("samples n of Gaussians", (2000, 4000, 8000, 16_000, 32_000), -0.5, _by_samples),
    "d": Sweep("features d of Gaussians", (20, 50, 100, 200, 400), 0.5, _by_features),
    "d, regressions": Sweep("features d of regressions", (10, 20, 40), 0.5, _by_features_of_regressions),
    "d, LDA": Sweep("words d of LDA (bound √log d)", (100, 200, 400, 800, 1600), 0.0, _by_words),
    "r": Sweep("dimension r of subspaces", (1, 2, 4, 8), 0.0, _by_dimension),
    "epsilon, cancellation": Sweep(
        "error ε of the moments",
        (1e-7, 1e-6, 1e-5, 1e-4, 1e-3),
        1.0,
        partial(_by_epsilon, extract=cancellation),
        CANCELLATION,
    ),
    "delta, cancellation": Sweep(
        "lead δ of the target", (0.01, 0.03, 0.1, 0.3, 1.0), -1.0, partial(_by_lead, extract=cancellation), CANCELLATION
    ),
    "a, cancellation": Sweep(
        "distance a₁ from the span of others", (0.03, 0.1, 0.3, 1.0), -2.0, _by_distance, CANCELLATION
    ),
}


def fit_exponent(rows: Rows) -> float:
    """Return the slope of log error against the log of the quantity."""
    targets = rows.levels("target")
    means = [rows.where(target=target).mean for target in targets]
    return float(np.polyfit(np.log([float(target) for target in targets]), np.log(means), 1)[0])


def draw(rows: Rows) -> Figure:
    """Draw errors against every quantity, with the theorem's exponent as a line."""
    names = rows.levels("quantity")
    figure = new_figure(THEORY.title, -(-len(names) // 4), min(len(names), 4), (3.4, 2.6))
    grid = figure.subplots(-(-len(names) // 4), min(len(names), 4), squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_axis_off()
    for axes, name in zip(grid.flat, names, strict=False):
        _draw_sweep(axes, rows.where(quantity=name), SWEEPS[name])
        style_axes(axes, "", SWEEPS[name].label, "error" if axes in grid[:, 0] else "")
    add_shared_legend(figure, grid.flat)
    return figure


def _draw_sweep(axes: Axes, rows: Rows, sweep: Sweep) -> None:
    values = np.array([float(target) for target in rows.levels("target")])
    means = np.array([rows.where(target=target).mean for target in rows.levels("target")])
    # The bound holds up to a constant: its line goes through the largest error.
    bound = values**sweep.exponent
    line = bound * (means / bound).max()
    axes.plot(values, line, color=MUTED_COLOR, linestyle="--", label="theorem's exponent")
    axes.plot(values, means, color=choose_color(sweep.method), marker="o", markersize=3, label=sweep.method)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    if line.max() < MAX_FACTOR * means.min():
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.minorticks_off()


def table(rows: Rows) -> str:
    """Format the exponents."""
    lines = [
        [
            SWEEPS[name].label,
            SWEEPS[name].method,
            f"{SWEEPS[name].exponent:g}",
            f"{fit_exponent(rows.where(quantity=name)):.2f}",
        ]
        for name in rows.levels("quantity")
    ]
    return format_markdown(["error against", "method", "theorem's exponent", "measured"], lines)


THEORY: Experiment = Experiment(
    name="theory",
    shows="Theorems 1, 3, 6 and 34 to 37",
    title="Errors against each quantity of the theorems",
    claim="The error grows as ε / (δ √α) times powers of A's eigenvalues, which may be an artefact; not with k.",
    cases=lambda quick: make_cases([{"quantity": name} for name in SWEEPS], 2 if quick else 10),
    run=run_errors,
    draw=draw,
    table=table,
    seconds=(200, 40),
)
