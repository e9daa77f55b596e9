"""The numbers that decide how mixtures are fitted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Chosen on generated mixtures by benchmarks/refinement.py; reported on other seeds and on labelled tables."""

    max_iter: int = 100  # iterations of EM; a good start needs far fewer
    tol: float = 0.01  # nats that an iteration must gain: estimates then change by far less than their standard errors
    min_start_weight: float = 0.2  # that a component starts with, relative to an even one: or it would vanish
    min_subset: int = 2_000  # rows that starts are compared on,
    subset_per_component: int = 200  # or this many per component
    restart_p_value: float = 0.1  # below it, the fit from given starts is compared with random ones
    n_random_starts: int = 10  # 20 are no likelier on 14 generated mixtures and three tables
    max_contradicted: float = 0.5  # examples that the mixture may have elsewhere, in expectation, before they are held
    misfit_p_value: float = 0.01  # below it, the rows of a component do not follow the model
    min_overlap: float = 1e-3  # share of its rows that a component shares with another one whose errors matter to it
    max_overlapping: int = 6  # such components


TUNING = Tuning()
