"""Hints that say something, that tie, that say nothing, and hints of any strength: what is found and reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import brentq

from mixsearch import GaussianSearch, LdaSearch, SubspaceSearch, search_family
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_subspaces, make_topics
from mixsearch.errors import HintError
from paper_experiments.experiment import Case, Experiment, Result, Rows, make_cases
from paper_experiments.figures import (
    Bars,
    Estimate,
    add_shared_legend,
    choose_color,
    draw_bars,
    format_markdown,
    format_mean,
    new_figure,
    style_axes,
)
from paper_experiments.subspaces import compute_distance

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
        yield Result("whitening", "warned", float(bool(found.warnings)), target=kind)


def draw_reports(rows: Rows) -> Figure:
    """Draw how often the component meant was found, and how often a warning was issued."""
    figure = new_figure(HINTS_EXPERIMENT.title, size=(8.0, 3.2))
    axes = figure.subplots()
    kinds = rows.levels("target")
    series = [
        Bars(name, color, [Estimate(_mean(rows, metric, kind) or 0.0, 0.0) for kind in kinds])
        for name, metric, color in (
            ("the component meant was found", "right", choose_color("whitening")),
            ("a warning was issued", "warned", choose_color("Fast-TPM")),
        )
    ]
    draw_bars(axes, kinds, series)
    style_axes(axes, "", "hint", "fraction of runs")
    add_shared_legend(figure, [axes])
    return figure


def _mean(rows: Rows, metric: str, kind: str) -> float | None:
    part = rows.where(metric=metric, target=kind)
    return part.mean if len(part) else None


def format_reports(rows: Rows) -> str:
    """Format what was found and reported for every kind of hint."""
    lines = []
    for kind in rows.levels("target"):
        means = [_mean(rows, metric, kind) for metric in ("right", "warned", "refused")]
        lines.append([kind, *("–" if value is None else f"{value:.2f}" for value in means)])
    return format_markdown(["hint", "right", "warned", "refused"], lines)


HINTS_EXPERIMENT: Experiment = Experiment(
    name="hints",
    shows="the condition of Theorem 1",
    title="What a hint says, what is found, and what is reported",
    claim="A component can be found if and only if the side information is informative.",
    cases=lambda quick: make_cases([{"k": K}], 10 if quick else 60),
    run=run_hints,
    draw=draw_reports,
    table=format_reports,
    seconds=(60, 12),
)


LEADS = (1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0)
ONCE, AGAIN = "whitening, once", "whitening, again"
SQUEEZED = 1.1  # a lead without room for its label
STYLES = {ONCE: "--", AGAIN: "-", "oracle": ":"}
LEAD = "score of the target / runner-up's"

Answer = Callable[[Array], Array]  # from a hint to the parameter


class Task(NamedTuple):
    """One component of a mixture to be found from hints of any strength."""

    parameters: Array  # (k, d), or bases (k, d, r)
    methods: dict[str, Answer]
    oracle: Array
    measure: Callable[[Array, Array], float]


def make_lead_hint(parameters: Array, lead: float, seed: int) -> Array:
    """Return the paper's hint with γ such that the first component scores `lead` times as high as the next, (d,)."""

    def excess(gamma: float) -> float:
        v = make_hint(parameters, 0, gamma=gamma, random_state=seed)
        scores = parameters @ v if parameters.ndim == 2 else np.sum((v @ parameters) ** 2, axis=1)
        return float(scores[0] - lead * scores[1:].max())

    return make_hint(parameters, 0, gamma=brentq(excess, 1e-9, 1.0), random_state=seed)


def run_leads(case: Case) -> Iterator[Result]:
    """Measure errors for hints of growing strength."""
    task = _TASKS[str(case.setting["family"])](case.seed)
    truth = task.parameters[0]
    for lead in LEADS:
        hint = make_lead_hint(task.parameters, lead, case.seed)
        for method, answer in task.methods.items():
            yield Result(method, "error", task.measure(answer(hint), truth), target=f"{lead:g}")
        yield Result("oracle", "error", task.measure(task.oracle, truth), target=f"{lead:g}")


def _distance(found: Array, truth: Array) -> float:
    return float(np.linalg.norm(found - truth))


def _gaussians(seed: int) -> Task:
    k = 20
    data = make_gaussian_mixture(8000, 500, k, deviation=0.7, weights=np.full(k, 1 / k), random_state=seed)
    search = GaussianSearch(k).fit(data.X)
    methods: dict[str, Answer] = {
        ONCE: lambda hint: search_family(search._family, hint, rehint=False).center,
        AGAIN: lambda hint: search.search(hint).center,
    }
    return Task(data.centers, methods, data.oracle()[0], _distance)


def _topics(seed: int) -> Task:
    k = 5
    data = make_topics(8000, 500, k, mean_length=100, alpha=0.1, random_state=seed)
    family = LdaSearch(k, alpha0=0.1 * k).fit(data.counts)._family
    methods: dict[str, Answer] = {
        ONCE: lambda hint: search_family(family, hint, rehint=False).center,
        AGAIN: lambda hint: search_family(family, hint).center,
    }
    return Task(data.topics, methods, data.oracle()[0], _distance)


def _subspaces(seed: int) -> Task:
    k, r = 5, 4
    data = make_subspaces(8000, 100, k, dim=r, deviation=0.2, weights=np.full(k, 1 / k), random_state=seed)
    printed, again = (SubspaceSearch(k, dim=r, preset=preset).fit(data.X) for preset in ("paper", "default"))
    methods: dict[str, Answer] = {
        ONCE: lambda hint: printed.search(hint, refine=False).basis,
        AGAIN: lambda hint: again.search(hint, refine=False).basis,
    }
    return Task(data.bases, methods, data.oracle()[0], compute_distance)


_TASKS = {"Gaussians": _gaussians, "topics": _topics, "subspaces": _subspaces}


def draw_leads(rows: Rows) -> Figure:
    """Draw errors against the lead of the target under the hint."""
    families = rows.levels("family")
    figure = new_figure(REHINT.title, 1, len(families), (4.2, 2.9))
    panels = figure.subplots(1, len(families), squeeze=False)[0]
    for axes, family in zip(panels, families, strict=True):
        _draw_lines(axes, rows.where(family=family))
        style_axes(axes, family, LEAD, "error" if axes is panels[0] else "")
    add_shared_legend(figure, panels)
    return figure


def _draw_lines(axes: Axes, rows: Rows) -> None:
    leads = rows.levels("target")
    numbers = [float(lead) for lead in leads]
    for method in rows.levels("method"):
        each = [rows.where(target=lead, method=method).values for lead in leads]
        errors = [values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0 for values in each]
        axes.errorbar(
            numbers,
            [values.mean() for values in each],
            errors,
            linestyle=STYLES[method],
            color=choose_color(method),
            linewidth=1.4,
            label=method,
        )
    axes.set_xscale("log")
    shown = [number for number in numbers if number != SQUEEZED]
    axes.set_xticks(shown, [f"{number:g}" for number in shown])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)


def format_leads(rows: Rows) -> str:
    """Format mean errors for each strength of the hint."""
    methods = rows.levels("method")
    lines = [
        [family, lead, *(format_mean(rows.where(family=family, target=lead, method=method)) for method in methods)]
        for family in rows.levels("family")
        for lead in rows.levels("target")
    ]
    return format_markdown(["family", LEAD, *methods], lines)


REHINT: Experiment = Experiment(
    name="rehint",
    shows="beyond the paper",
    title="Hints of any strength: moments contracted once, and again with the component found",
    claim="The error grows as the lead of the target under the hint falls; a subspace needs a lead of three.",
    cases=lambda quick: make_cases([{"family": family} for family in _TASKS], 2 if quick else 10),
    run=run_leads,
    draw=draw_leads,
    table=format_leads,
    page=lambda rows: format_leads(Rows(row for row in rows if row.target in ("1.05", "1.5", "5"))),
    seconds=(200, 40),
)


RANDOM_SIZE = {"n": 8000, "d": 500, "k": 20}


def run_random(case: Case) -> Iterator[Result]:
    """Measure errors from a hint and from a random direction, each contracted once and again."""
    n, d, k = (int(case.setting[name]) for name in RANDOM_SIZE)
    data = make_gaussian_mixture(n, d, k, deviation=0.7, weights=np.full(k, 1 / k), random_state=case.seed)
    search, oracle = GaussianSearch(k).fit(data.X), data.oracle()
    rng = np.random.default_rng(case.seed)
    directions = {"hint": make_hint(data.centers, 0, gamma=0.7), "random direction": rng.standard_normal(d)}
    for name, direction in directions.items():
        for when, rehint in (("once", False), ("again", True)):
            center = search_family(search._family, direction, rehint=rehint).center
            nearest = int(np.argmin(np.linalg.norm(data.centers - center, axis=1)))
            yield Result(f"{name}, {when}", "error", _distance(center, data.centers[nearest]))
    yield Result("oracle", "error", _distance(oracle[0], data.centers[0]))


def draw_random(rows: Rows) -> Figure:
    """Draw the mean error of each kind of hint."""
    figure = new_figure(RANDOM.title, size=(7.0, 3.2))
    axes = figure.subplots()
    methods = rows.levels("method")
    parts = [rows.where(method=method) for method in methods]
    heights = [Estimate(part.mean, 0.0 if np.isnan(part.stderr) else part.stderr) for part in parts]
    names = [method.replace(", ", ",\n") for method in methods]
    draw_bars(axes, names, [Bars("error", choose_color("whitening"), heights)])
    style_axes(axes, "", "", "error of the nearest component")
    return figure


def format_random(rows: Rows) -> str:
    """Format the mean error and the largest one."""
    methods = rows.levels("method")
    parts = [rows.where(method=method) for method in methods]
    lines = [["mean", *map(format_mean, parts)], ["largest", *(f"{part.values.max():.3g}" for part in parts)]]
    return format_markdown(["error", *methods], lines)


RANDOM: Experiment = Experiment(
    name="random-hint",
    shows="remarks of sections 3.1 and 3.2",
    title="A hint compared with a random projection of the third moment",
    claim="A hint guarantees a gap between eigenvalues, which a random projection does not: its answer is more stable.",
    cases=lambda quick: make_cases([RANDOM_SIZE], 4 if quick else 20),
    run=run_random,
    draw=draw_random,
    table=format_random,
    seconds=(60, 12),
)
