"""The number of subspaces and the largest of their dimensions, if each has its own."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.em import MAX_ITER, EMOptions
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.errors import SearchError
from mixsearch.subspace._em import run_em_from
from mixsearch.subspace._expression import Nodes, choose_ridge
from mixsearch.subspace._fit import fit_subspace
from mixsearch.subspace._starts import best_mixture, mixture_bic

# Larger dimensions are not tried.
MAX_DIM = 8
# Samples on which numbers and dimensions are compared.
MAX_SAMPLES = 1000


class Shape(NamedTuple):
    """The number of subspaces of a mixture, and their largest dimension."""

    n_components: int
    dim: int


def choose_shape(
    partitions: Partitions[SamplePartition], n_components: int | None, n_signal: int, origin: Array | None, seed: int
) -> Shape:
    """Choose the largest dimension by the Bayesian information criterion, and the number of subspaces if it is None.

    Parameters
    ----------
    partitions : Partitions of samples of shape (n, d)
    n_components : int or None
    n_signal : int
        The number of directions that stand out from the noise, if the number of subspaces is not known.
    origin : array of shape (d,) or None
        The point that all subspaces contain; None for zero.
    seed : int

    Returns
    -------
    Shape
    """
    few = partitions.thin(-(-partitions.n_rows // MAX_SAMPLES)).collect()
    nodes = Nodes.of(few.partition.samples)
    walk = nodes.express(choose_ridge(nodes)).walk
    options, failed = EMOptions(MAX_ITER, 0.01), None
    criteria: dict[Shape, float] = {}
    for dim in range(1, MAX_DIM + 1):
        largest = 0
        for k in _list_numbers(n_components, n_signal, dim):
            if k * dim >= few.n_features:
                continue
            try:
                family = fit_subspace(few, k, dim=dim, paper=False, seed=seed, origin=origin)
            except SearchError as error:  # this many subspaces need more directions
                failed = error
                continue
            family = replace(family, has_own_dims=True)
            fitted = run_em_from(family, best_mixture(family, walk, options), options)
            own = max(fitted.state.dim_of(index) for index in range(k))
            criterion = mixture_bic(family, fitted.state, fitted.objectives[-1])
            criteria[Shape(k, own)] = min(criterion, criteria.get(Shape(k, own), np.inf))
            largest = max(largest, own)
        if largest < dim:  # no subspace has this many dimensions
            break
    if not criteria and failed is not None:
        raise failed
    return min(criteria, key=criteria.__getitem__)


def _list_numbers(n_components: int | None, n_signal: int, dim: int) -> tuple[int, ...]:
    """Return how many subspaces to try: as few as can hold all directions, one less and one more."""
    fewest = max(-(-n_signal // dim), 1)
    return tuple(range(max(fewest - 1, 1), fewest + 2)) if n_components is None else (n_components,)
