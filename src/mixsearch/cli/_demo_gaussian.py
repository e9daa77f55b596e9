"""The second half of the demo: one Gaussian of ten, from one labelled sample."""

from __future__ import annotations

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.cli._demo_topics import format_separation
from mixsearch.cli._docstrings import measure, print_line
from mixsearch.datasets import GaussianMixtureData, make_gaussian_mixture
from mixsearch.display import plain_chance
from mixsearch.gaussian import GaussianComponent

_DEVIATION = 2.0


def show_gaussian(console: Console) -> tuple[GaussianMixtureData, GaussianComponent]:
    """Find the component of one labelled sample; return the mixture and the component."""
    data = make_gaussian_mixture(10_000, 100, 10, deviation=_DEVIATION, random_state=0)
    n_samples, n_features = data.X.shape
    print_line(console, f"{n_samples:,} samples in {n_features} dimensions, standard deviation {_DEVIATION:g}")
    search, fit_seconds = measure(lambda: GaussianSearch(len(data.weights)).fit(data.X))
    found, seconds = measure(lambda: search.search(examples=data.X[:1], refine=True))
    console.print(_errors(data, found))
    truth = data.weights[data.labels[0]]
    print_line(console, f"Weight {found.weight:.3f} ± {found.stderr.weight:.3f} (truth {truth:.3f})")
    print_line(
        console, f"Separation {format_separation(found.separation)}; confidence {plain_chance(found.confidence)}"
    )
    print_line(console, f"Fitted in {1000 * fit_seconds:.0f} ms, searched in {1000 * seconds:.0f} ms")
    return data, found


def _errors(data: GaussianMixtureData, found: GaussianComponent) -> Table:
    """Return a table of the distances of four estimates of the center from the truth."""
    target = data.labels[0]
    members = data.X[data.labels == target]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0))
    table.add_column("estimate of the center")
    table.add_column("distance to the truth", justify="right")
    for name, center, style in (
        ("the labelled sample itself", data.X[0], ""),
        ("the search, from that one label", found.moment_estimate.center, ""),
        ("the search, refined", found.center, "bold green"),
        (f"the average of all {len(members):,} members, from every label", members.mean(axis=0), ""),
    ):
        table.add_row(name, f"{_distance(center, data.centers[target]):.2f}", style=style)
    return table


def _distance(a: Array, b: Array) -> float:
    return float(np.linalg.norm(a - b))
