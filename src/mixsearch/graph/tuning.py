"""The numbers that decide how well a graph of rows finds members."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Chosen on some labelled tables and reported on others: benchmarks/tables.py, benchmarks/communities.py."""

    n_neighbors: int = 10  # edges of each node before the graph is made symmetric
    restart: float = 0.02  # probability that the random walk returns to an example: smaller values reach further
    between: float = 0.1  # weight of an edge between two components of the mixture, where one inside has 1.1
    max_components: int = 10  # of the mixture; BIC chooses how many
    max_mixture_rows: int = 3_000  # rows that the mixture is fitted to
    ridge: float = 1e-3  # added to the variances of components, relative to the mean variance of a feature
    within_ridge: float = 1e-2  # added to the covariance within components, relative to its mean variance
    min_values: int = 20  # of a column: the mixture is of columns with more of them; 10 to 40 differ by .002 AP
    max_features: int = 50  # with more, neighbours are found along as many principal axes
    max_nodes: int = 10_000  # with more rows, that many of them stand for all
    powers: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)  # of the score that membership may follow
    prior_examples: int = 4  # that membership itself counts as in the overlap; 0 to 4 differ by .03 in |log|
    rank_weight: float = 0.25  # of left-out examples in the cut of a graph; .2 to .3 differ by .03 F1


TUNING = Tuning()
