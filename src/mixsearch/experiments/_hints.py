"""Hints that say something, that tie, and that say nothing: what is found, and what is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from matplotlib.figure import Figure

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import HintError
from mixsearch.experiments._experiment import Case, Experiment, Result, make_cases
from mixsearch.experiments._figures import (
    Bars,
    Estimate,
    add_shared_legend,
    choose_color,
    draw_bars,
    new_figure,
    style_axes,
)
from mixsearch.experiments._rows import Rows
from mixsearch.experiments._tables import format_markdown

K, D, N, DEVIATION = 5, 50, 8000, 1.0


def _with_scores(centers: Array, scores: Array) -> Array:
    return np.asarray(np.linalg.pinv(centers) @ scores)


# From centers and a seed to a hint; the first component is the one meant.
HINTS: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "lead 2": lambda centers, rng: _with_scores(centers, np.array([2.0, 1.0, 0.5, 0.5, 0.5])),
    "lead 1.1": lambda centers, rng: _with_scores(centers, np.array([1.1, 1.0, 0.5, 0.5, 0.5])),
    "a tie of two": lambda centers, rng: _with_scores(centers, np.array([1.0, 1.0, 0.5, 0.5, 0.5])),
    "all the same": lambda centers, rng: _with_scores(centers, np.ones(K)),
    "random": lambda centers, rng: rng.standard_normal(D),
    "none in the signal": lambda centers, rng: _without(centers, rng.standard_normal(D)),
}


def _without(centers: Array, direction: Array) -> Array:
    """Return the part of a direction that is orthogonal to all centers, (d,)."""
    return np.asarray(direction - np.linalg.pinv(centers) @ (centers @ direction))


def run_hints(case: Case) -> Iterator[Result]:
    """Search with every kind of hint, in the same samples."""
    data = make_gaussian_mixture(N, D, K, deviation=DEVIATION, weights=np.full(K, 1 / K), random_state=case.seed)
    search = GaussianSearch(K).fit(data.X)
    for kind, make in HINTS.items():
        hint = make(data.centers, np.random.default_rng(case.seed))
        try:
            found = search.search(hint)
        except HintError:
            yield Result("whitening", "refused", 1.0, target=kind)
            continue
        nearest = int(np.argmin(np.linalg.norm(data.centers - found.center, axis=1)))
        yield Result("whitening", "refused", 0.0, target=kind)
        yield Result("whitening", "right", float(nearest == 0), target=kind)
        yield Result("whitening", "confidence", found.confidence, target=kind)
        yield Result("whitening", "doubted", float(bool(found.doubts)), target=kind)


def draw(rows: Rows) -> Figure:
    """Draw how often the component meant was found, and the mean confidence."""
    figure = new_figure(HINTS_EXPERIMENT.title, size=(8.0, 3.2))
    axes = figure.subplots()
    kinds = rows.levels("target")
    series = [
        Bars(name, color, [Estimate(_mean(rows, metric, kind) or 0.0, 0.0) for kind in kinds])
        for name, metric, color in (
            ("the component meant was found", "right", choose_color("whitening")),
            ("mean confidence", "confidence", choose_color("cancellation")),
            ("a doubt was reported", "doubted", choose_color("Fast-TPM")),
        )
    ]
    draw_bars(axes, kinds, series)
    style_axes(axes, "", "hint", "fraction of runs")
    add_shared_legend(figure, [axes])
    return figure


def _mean(rows: Rows, metric: str, kind: str) -> float | None:
    part = rows.where(metric=metric, target=kind)
    return part.mean if len(part) else None


def table(rows: Rows) -> str:
    """Format what was found and reported for every kind of hint."""
    lines = []
    for kind in rows.levels("target"):
        means = [_mean(rows, metric, kind) for metric in ("right", "confidence", "doubted", "refused")]
        lines.append([kind, *("–" if value is None else f"{value:.2f}" for value in means)])
    return format_markdown(["hint", "right", "mean confidence", "doubted", "refused"], lines)


HINTS_EXPERIMENT: Experiment = Experiment(
    name="hints",
    shows="the condition of Theorem 1",
    title="What a hint says, what is found, and what is reported",
    claim="A component can be found if and only if the side information is informative.",
    cases=lambda quick: make_cases([{"k": K}], 10 if quick else 60),
    run=run_hints,
    draw=draw,
    table=table,
    seconds=(60, 12),
)
