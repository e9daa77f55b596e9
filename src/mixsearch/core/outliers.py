"""Samples that lie far from all others: a single one can outweigh all others in a third moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.moments import sample_mean_of, squared_distances
from mixsearch.core.rows import Chunk, Chunks, SampleChunk
from mixsearch.core.tuning import TUNING
from mixsearch.errors import OutliersWarning, warn_user

# A gross outlier moves the mean, and hides smaller ones until it is left out.
MAX_ROUNDS = 4
# This many far samples that are as close to each other as members of a component are one.
MIN_MEMBERS = 5
# Samples that suffice for quantiles, and far samples that are compared with each other.
MAX_SAMPLES, MAX_FAR = 10_000, 5000
MAX_LISTED = 10


@dataclass(frozen=True)
class Squares(Chunk):
    """A square for each sample."""

    values: Array  # (n,)


def find_outliers(chunks: Chunks[SampleChunk]) -> Array:
    """Find samples that lie far from the mean and from each other: their indices, rising, (q,).

    Notes
    -----
    The breakdown point is 1%: up to that share of the samples may lie anywhere. More of them, or five close to each
    other, are taken for components.
    """

    def find_from(center: Array) -> tuple[Array, float]:
        return find_far(chunks, lambda chunk: squared_distances(chunk.samples, center))

    mean = center = sample_mean_of(chunks)
    (rows, median), before = find_from(center), np.zeros(0, dtype=np.int64)
    for _ in range(MAX_ROUNDS):
        if np.array_equal(before, rows):
            break
        share = len(rows) / chunks.n_rows
        center = np.asarray((mean - share * sample_mean_of(chunks.take_rows(rows))) / (1 - share))
        before, (rows, median) = rows, find_from(center)
    return isolated_rows(chunks, rows, median, center)


def warn_about_outliers(rows: Array, n_samples: int) -> None:
    """Warn that some samples lie far from all others, if there are any."""
    n, listed = len(rows), ", ".join(map(str, rows[:MAX_LISTED]))
    if not n:
        return
    more = f" and {n - MAX_LISTED:,} more" if n > MAX_LISTED else ""
    verbs = ("lies", "row", "was") if n == 1 else ("lie", "rows", "were")
    sentence = (
        f"{{n_outliers:,}} of {{n_samples:,}} samples {verbs[0]} far from all others ({verbs[1]} {listed}{more}) and "
        f"{verbs[2]} left out of the fit."
    )
    warn_user(OutliersWarning(sentence, n_outliers=n, n_samples=n_samples, rows=rows[:MAX_LISTED].tolist()))


def find_far(chunks: Chunks[SampleChunk], measure: Callable[..., Array]) -> tuple[Array, float]:
    """Find the samples whose square, as `measure` computes it, is far larger than all others; return the median too.

    Notes
    -----
    Cube roots of sums of squares of normal variables are nearly normal, however many there are (Wilson and Hilferty),
    so one bound in standard deviations serves every dimension. Median and upper quantile give the deviation.
    """
    n = chunks.n_rows
    if n < TUNING.min_samples:
        return np.zeros(0, dtype=np.int64), 0.0
    squares = chunks.map(lambda chunk: Squares(chunk.first, measure(chunk)))
    sampled = squares.thin(-(-n // MAX_SAMPLES)).chunk.values
    middle, upper = np.quantile(np.cbrt(sampled), [0.5, 1 - TUNING.tail])
    # Where all distances are equal, rounding is not far.
    deviation = max((upper - middle) / NormalDist().inv_cdf(1 - TUNING.tail), 0.01 * middle)
    limit = float((middle + (np.sqrt(2 * np.log(n)) + TUNING.slack) * deviation) ** 3)

    def find_above(chunk: Squares) -> Array:
        rows = np.flatnonzero(chunk.values > limit)
        return np.stack([chunk.first + rows, chunk.values[rows]])

    rows, far = np.concatenate(squares.gather(find_above), axis=1)
    return np.sort(rows[np.argsort(-far, kind="stable")[:MAX_FAR]]).astype(np.int64), float(np.median(sampled))


def isolated_rows(chunks: Chunks[Any], rows: Array, median: float, center: Array) -> Array:
    """Return the far rows that are not members of a group of samples close to each other."""
    if len(rows) < MIN_MEMBERS:
        return rows
    from sklearn.cluster import DBSCAN  # type: ignore[attr-defined]  # old stubs; it takes longer to import than most fits

    samples: Samples = chunks.take_rows(rows).chunk.samples
    points = samples if sp.issparse(samples) else np.asarray(samples, dtype=np.float64) - center
    radius = max(np.sqrt(TUNING.max_spread * median), np.finfo(np.float64).tiny)
    return np.asarray(rows[DBSCAN(eps=radius, min_samples=MIN_MEMBERS).fit_predict(points) < 0])
