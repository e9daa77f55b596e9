"""Weak hints: one contraction of the moments with the hint, and one more with the component found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import brentq

from mixsearch import GaussianSearch, SubspaceSearch, TopicSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_subspaces, make_topics
from mixsearch.experiments._experiment import Case, Experiment, Result, make_cases
from mixsearch.experiments._figures import add_shared_legend, choose_color, new_figure, style_axes
from mixsearch.experiments._rows import Rows
from mixsearch.experiments._subspaces import compute_distance
from mixsearch.experiments._tables import format_markdown, format_mean

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
    """Return the paper's hint with γ such that the first component scores `lead` times as high as the next, (d,).

    The score of a center is ⟨μᵢ, v⟩, and that of a subspace |Uᵢ'v|².
    """

    def excess(gamma: float) -> float:
        v = make_hint(parameters, 0, gamma=gamma, random_state=seed)
        scores = parameters @ v if parameters.ndim == 2 else np.sum((v @ parameters) ** 2, axis=1)
        return float(scores[0] - lead * scores[1:].max())

    return make_hint(parameters, 0, gamma=brentq(excess, 1e-9, 1.0), random_state=seed)


def run_errors(case: Case) -> Iterator[Result]:
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
        ONCE: lambda hint: search.search(hint, rehint=False).center,
        AGAIN: lambda hint: search.search(hint).center,
    }
    return Task(data.centers, methods, data.oracle()[0], _distance)


def _topics(seed: int) -> Task:
    k = 5
    data = make_topics(8000, 500, k, mean_length=100, alpha=0.1, random_state=seed)
    search = TopicSearch(k, alpha0=0.1 * k, moments="distinct", damping=False).fit(data.counts)

    def find(hint: Array, *, rehint: bool) -> Array:
        return search.search(hint, choose="largest", project=True, rehint=rehint).center

    methods: dict[str, Answer] = {
        ONCE: lambda hint: find(hint, rehint=False),
        AGAIN: lambda hint: find(hint, rehint=True),
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


def draw(rows: Rows) -> Figure:
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


def table(rows: Rows) -> str:
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
    run=run_errors,
    draw=draw,
    table=table,
    seconds=(200, 40),
)
