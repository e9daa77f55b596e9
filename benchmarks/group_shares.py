"""Measure the coverage of intervals of shares in groups of documents.

Documents have shares of a topic from a Dirichlet distribution; most shares are nearly zero. What is seen are the
words of the documents: a share is the part of a document's words that are on the topic. Groups have 5 to 5,000
documents, and the topic is more frequent in some of them. Truth is the mean of the distribution that a group is drawn
from. plain t: the interval of a mean by Student's t, which knows nothing of zeros.
"""

from __future__ import annotations

import numpy as np
from measuring import measure, print_table, verdict
from scipy.special import stdtrit

from mixsearch._typing import Array
from mixsearch.index.group_shares import estimate_shares

SIZES = (5, 10, 20, 50, 200, 1000, 5000)
CODES = np.repeat(np.arange(len(SIZES)), SIZES)
# Name, total concentration of the Dirichlet distribution, mean share of the topic.
DRAWS = (
    ("rare, few topics a document", 0.5, 0.01),
    ("usual, few topics a document", 0.5, 0.05),
    ("frequent, few topics a document", 0.5, 0.25),
    ("rare, many topics a document", 4.0, 0.01),
    ("usual, many topics a document", 4.0, 0.05),
    ("frequent, many topics a document", 4.0, 0.25),
)
N_RUNS = 1000


def draw_lengths(rng: np.random.Generator, n: int) -> Array:
    return np.maximum(rng.lognormal(4, 0.7, n), 5).astype(np.int64)


def student_interval(shares: Array) -> tuple[Array, Array]:
    n = np.array(SIZES)
    mean = np.bincount(CODES, shares) / n
    variance = np.bincount(CODES, (shares - mean[CODES]) ** 2) / (n * (n - 1))
    half = stdtrit(n - 1, 0.975) * np.sqrt(variance)
    return mean - half, mean + half


def cover(concentration: float, share: float, n_runs: int) -> tuple[Array, Array]:
    """Return how often the intervals hold the truth, ours and Student's, for each size of a group."""
    rng = np.random.default_rng([int(1000 * share), int(10 * concentration)])
    ours, student = np.zeros(len(SIZES)), np.zeros(len(SIZES))
    for _ in range(n_runs):
        mean = np.minimum(share * np.exp(rng.normal(0, 0.4, len(SIZES))), 0.8)
        a = concentration * mean[CODES]
        shares = rng.beta(a, concentration - a)
        lengths = draw_lengths(rng, len(CODES))
        seen = rng.binomial(lengths, shares) / lengths
        found = estimate_shares(seen, CODES, len(SIZES))
        ours += (found.low <= mean) & (mean <= found.high)
        low, high = student_interval(seen)
        student += (low <= mean) & (mean <= high)
    return ours / n_runs, student / n_runs


def print_coverage(n_runs: int) -> None:
    rows = []
    for name, concentration, share in DRAWS:
        ours, student = cover(concentration, share, n_runs)
        rows.append((name, *(f"{each:.3f}" for each in ours)))
        rows.append((f"{name}; plain t", *(f"{each:.3f}" for each in student)))
    print_table("Coverage of 95% intervals by the documents in the group", ("topic", *(f"{n:,}" for n in SIZES)), rows)
    shares = np.array([row[1:] for row in rows if "plain t" not in row[0]], dtype=float)
    within = np.mean((shares >= 0.92) & (shares <= 0.98))
    print(f"\nShares: {shares.min():.3f} to {shares.max():.3f}; {within:.0%} of the cells within 92% to 98%.")


def print_time(n: int) -> None:
    rng = np.random.default_rng(0)
    shares = np.where(rng.random(n) < 0.1, rng.random(n), 0)
    codes = rng.integers(0, 60, n)
    spent = measure(lambda: estimate_shares(shares, codes, 60)).seconds
    print()
    print(verdict(f"shares of {n:,} documents in 60 groups, per thousand documents", 1e6 * spent / n, 1, " ms"))


def run(*, quick: bool = False) -> None:
    """Measure coverage of shares, and the time for a million documents."""
    print_coverage(100 if quick else N_RUNS)
    print_time(100_000 if quick else 1_000_000)


if __name__ == "__main__":
    run()
