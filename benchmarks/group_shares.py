"""Measure the coverage of intervals of shares in groups of documents, and the simultaneous coverage for changes.

Documents have shares of twenty topics from a Dirichlet distribution; most shares are nearly zero. What is seen are the
words of the documents: a share is the part of a document's words that are on the topic. Groups have 5 to 5,000
documents, and the topic is more frequent in some of them. Truth is the mean of the distribution that a group is drawn
from. plain t: the interval of a mean by Student's t, which knows nothing of zeros.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from measuring import measure, print_table, verdict
from scipy.special import stdtrit

from mixsearch._typing import Array
from mixsearch.index.changes import compare_shares, compare_words
from mixsearch.index.group_shares import count_members, estimate_shares

SIZES = (5, 10, 20, 50, 200, 1000, 5000)
CODES = np.repeat(np.arange(len(SIZES)), SIZES)
N_TOPICS = 20
# How documents are weighted. In the last, a document that is on the topic is up to four times as long.
EQUAL, LENGTH, LONGER = "equal weights", "by length", "by length, longer on the topic"
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
# For the comparison of words: documents, of them in the second group, words.
N_DOCUMENTS, N_SECOND, N_WORDS = 2000, (1000, 100), 3000


def draw_lengths(rng: np.random.Generator, n: int) -> Array:
    return np.maximum(rng.lognormal(4, 0.7, n), 5).astype(np.int64)


def student_interval(shares: Array, weights: Array) -> tuple[Array, Array]:
    n, total = np.array(SIZES), np.bincount(CODES, weights)
    mean = np.bincount(CODES, weights * shares) / total
    variance = np.bincount(CODES, (weights * (shares - mean[CODES])) ** 2) / total**2 * n / (n - 1)
    half = stdtrit(n - 1, 0.975) * np.sqrt(variance)
    return mean - half, mean + half


def cover(concentration: float, share: float, weighting: str, n_runs: int) -> tuple[Array, Array]:
    """Return how often the intervals hold the truth, ours and Student's, for each size of a group."""
    rng = np.random.default_rng([int(1000 * share), int(10 * concentration), len(weighting)])
    ours, student = np.zeros(len(SIZES)), np.zeros(len(SIZES))
    for _ in range(n_runs):
        mean = np.minimum(share * np.exp(rng.normal(0, 0.4, len(SIZES))), 0.8)
        a = concentration * mean[CODES]
        shares = rng.beta(a, concentration - a)
        lengths, truth = draw_lengths(rng, len(CODES)), mean
        if weighting == LONGER:
            lengths = np.rint(lengths * (1 + 3 * shares)).astype(np.int64)
            square = mean * (1 + concentration * mean) / (1 + concentration)
            truth = (mean + 3 * square) / (1 + 3 * mean)
        seen = rng.binomial(lengths, shares) / lengths
        weights = np.ones(len(CODES)) if weighting == EQUAL else lengths.astype(float)
        found = estimate_shares(seen, CODES, len(SIZES), weights=weights)
        ours += (found.low <= truth) & (truth <= found.high)
        low, high = student_interval(seen, weights)
        student += (low <= truth) & (truth <= high)
    return ours / n_runs, student / n_runs


def cover_counts(n_runs: int) -> Array:
    """Return how often the intervals of numbers of documents hold the number, for each size of a group."""
    rng = np.random.default_rng(1)
    held = np.zeros(len(SIZES))
    for _ in range(n_runs):
        membership = rng.beta(0.1, 0.9, len(CODES))
        truth = np.bincount(CODES, rng.random(len(CODES)) < membership)
        found = count_members(membership, CODES, len(SIZES))
        held += (found.low <= truth) & (truth <= found.high)
    return held / n_runs


def cover_changes(n_second: int, n_runs: int) -> tuple[float, float, float]:
    """Return how often all intervals of topics hold, the part of the doubled that is found, and the first for z."""
    rng = np.random.default_rng([2, n_second])
    old = np.full(N_TOPICS, 1 / N_TOPICS)
    new = old * np.where(np.arange(N_TOPICS) < 2, 2, 0.889)
    new /= new.sum()
    after = np.arange(N_DOCUMENTS) < n_second
    held, found_share, alone = 0, [], 0
    for _ in range(n_runs):
        shares = np.where(after[:, None], rng.dirichlet(0.5 * new, N_DOCUMENTS), rng.dirichlet(0.5 * old, N_DOCUMENTS))
        lengths = draw_lengths(rng, N_DOCUMENTS)
        seen = rng.binomial(lengths[:, None], np.clip(shares, 0, 1)) / lengths[:, None]
        changes = compare_shares(seen, ~after, after)
        held += bool(np.all((changes.low <= new - old) & (new - old <= changes.high)))
        found_share.append(np.isin([0, 1], changes.list_rises()).mean())
        alone += bool(np.any(np.abs(changes.difference - new + old) > 1.96 * changes.stderr))
    return held / n_runs, float(np.mean(found_share)), 1 - alone / n_runs


def cover_words(n_second: int, n_runs: int) -> tuple[float, float, float]:
    """Return how often all intervals of words hold, the part of the doubled that is found, and the first for z."""
    rng = np.random.default_rng([3, n_second])
    usual = 1 / np.arange(1, N_WORDS + 1)
    usual /= usual.sum()
    doubled = np.arange(20, 120, 10)
    more = usual.copy()
    more[doubled] *= 2
    more /= more.sum()
    after = np.arange(N_DOCUMENTS) < n_second
    truth = more - usual
    held, found_share, alone = 0, [], 0
    for _ in range(n_runs):
        counts = draw_counts(rng, np.where(after[:, None], more, usual))
        changes = compare_words(counts, ~after, after)
        held += bool(np.all((changes.low <= truth) & (truth <= changes.high)))
        found_share.append(np.isin(doubled, changes.list_rises()).mean())
        alone += bool(np.any(np.abs(changes.difference - truth) > 1.96 * changes.stderr))
    return held / n_runs, float(np.mean(found_share)), 1 - alone / n_runs


def draw_counts(rng: np.random.Generator, frequencies: Array) -> sp.csr_array:
    """Draw documents that repeat words: their word frequencies are gamma-distributed around the usual ones."""
    own = rng.gamma(200 * frequencies)
    return sp.csr_array(
        rng.multinomial(draw_lengths(rng, len(own)), own / own.sum(axis=1, keepdims=True)).astype(float)
    )


def print_coverage(n_runs: int) -> None:
    rows = []
    for name, concentration, share in DRAWS:
        for weighting in (EQUAL, LENGTH, LONGER):
            ours, student = cover(concentration, share, weighting, n_runs)
            rows.append((f"{name}; {weighting}", *(f"{each:.3f}" for each in ours)))
            if weighting == EQUAL:
                rows.append((f"{name}; plain t", *(f"{each:.3f}" for each in student)))
    rows.append(("number of documents", *(f"{each:.3f}" for each in cover_counts(n_runs))))
    print_table("Coverage of 95% intervals by the documents in the group", ("topic", *(f"{n:,}" for n in SIZES)), rows)
    shares = np.array([row[1:] for row in rows[:-1] if "plain t" not in row[0]], dtype=float)
    within = np.mean((shares >= 0.92) & (shares <= 0.98))
    print(f"\nShares: {shares.min():.3f} to {shares.max():.3f}; {within:.0%} of the cells within 92% to 98%.")


def print_changes(n_runs: int) -> None:
    rows = []
    works: tuple[tuple[str, Callable[[int, int], tuple[float, float, float]], int], ...] = (
        (f"{N_TOPICS} topics, two of them doubled", cover_changes, n_runs),
        (f"{N_WORDS:,} words, ten of them doubled", cover_words, max(n_runs // 4, 1)),
    )
    for name, work, n in works:
        for n_second in N_SECOND:
            held, found, alone = work(n_second, n)
            rows.append((f"{name}, {n_second:,} documents after", f"{held:.2f}", f"{found:.2f}", f"{alone:.2f}"))
    print_table(
        f"Changes between two groups of {N_DOCUMENTS:,} documents",
        ("compared", "all intervals hold", "doubled ones found", "each at 95% alone: all hold"),
        rows,
    )


def print_time(n: int) -> None:
    rng = np.random.default_rng(0)
    shares = np.where(rng.random(n) < 0.1, rng.random(n), 0)
    codes, lengths = rng.integers(0, 60, n), draw_lengths(rng, n)
    spent = measure(lambda: estimate_shares(shares, codes, 60, weights=lengths)).seconds
    print()
    print(verdict(f"shares of {n:,} documents in 60 groups, per thousand documents", 1e6 * spent / n, 1, " ms"))


def run(*, quick: bool = False) -> None:
    """Measure coverage of shares, numbers and changes, and the time for a million documents."""
    print_coverage(100 if quick else N_RUNS)
    print_changes(20 if quick else 200)
    print_time(100_000 if quick else 1_000_000)


if __name__ == "__main__":
    run()
