"""The numbers that decide how well a graph of rows finds members."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Chosen on some labelled tables and reported on others, leaving one table out in turn: benchmarks/tables.py."""

    n_neighbors: int = 10  # edges of each node before the graph is made symmetric
    restart: float = 0.02  # probability that the random walk returns to an example: smaller values reach further
    between: float = 0.1  # weight of an edge between two components of the mixture, where one inside has 1.1
    max_components: int = 10  # of the mixture; BIC chooses how many
    max_mixture_rows: int = 3_000  # rows that the mixture is fitted to
    max_features: int = 50  # with more, neighbours are found along as many principal axes
    max_nodes: int = 10_000  # with more rows, that many of them stand for all


TUNING = Tuning()
