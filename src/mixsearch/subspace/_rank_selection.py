"""How many subspaces there are."""

from __future__ import annotations

import numpy as np

from mixsearch.core.held_out import spherical_spectrum as spherical_spectrum
from mixsearch.core.rank_selection import Spectrum
from mixsearch.data.partitions import Partitions, SamplePartition


def subspace_spectrum(partitions: Partitions[SamplePartition], *, dim: int, seed: int) -> Spectrum:
    """How many subspaces of a dimension there are, to the nearest whole number and one at least.

    Parameters
    ----------
    partitions : Shards of samples of shape (n, d)
    dim : int
        r, the dimension of each.
    seed : int
        Of the eigen-solver's starting block.
    """
    d = partitions.n_features
    return spherical_spectrum(partitions, np.zeros(d), lambda n: max(min(round(n / dim), (d - 1) // dim), 1), seed)
