"""The number of subspaces in a mixture."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rank_selection import Spectrum, spherical_spectrum
from mixsearch.data.partitions import Partitions, SamplePartition


def subspace_spectrum(
    partitions: Partitions[SamplePartition], *, dim: int, seed: int, center: Array | None = None
) -> Spectrum:
    """Count the subspaces: the signal directions over the dimension of each, rounded, and at least one.

    Parameters
    ----------
    partitions : Partitions of samples of shape (n, d)
    dim : int
        r, the dimension of each subspace.
    seed : int
        Seed of the eigensolver's starting block.
    center : array of shape (d,), optional
        The point that all subspaces contain; zero by default.

    Returns
    -------
    Spectrum
    """
    d = partitions.n_features
    origin = np.zeros(d) if center is None else center
    return spherical_spectrum(partitions, origin, lambda n: max(min(round(n / dim), (d - 1) // dim), 1), seed)
