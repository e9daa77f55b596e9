"""The numbers that decide what is warned about, left out and counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Chosen on generated mixtures; reported by the planted warnings of tests/statistical on other seeds."""

    # Warnings about a hint
    clear_separation: float = 1.5  # lead that is not noise; below it, moments are contracted with the answer again
    max_lost: float = 0.04  # probability that a lead is lost on new samples, above which the hint is weak
    min_inside: float = 0.5  # share of a direction in the signal space, above which a large lead is not noise
    min_second: float = 0.05  # smallest eigenvalue of A without a group of the jackknife: it is near 1
    # Outliers
    min_samples: int = 100  # with fewer samples nobody can say what is far
    tail: float = 0.01  # share of the samples that gives the scale, and the breakdown point
    slack: float = 3.0  # deviations beyond the largest one of normal samples: components differ in variance
    max_spread: float = 3.0  # squared distance within a group of far samples, in medians of all squared distances
    # Number of components (benchmarks/counting.py)
    margin: float = 2.0  # deviations beyond the edge of noise: less than 1 of 100 fits (Tracy and Widom)
    max_gap: float = 1e3  # factor between eigenvalues of noise and those of nearly constant directions
    min_samples_per_feature: float = 1.5  # with fewer samples eigenvalues of noise have gaps


TUNING = Tuning()
