"""How many Gaussians there are."""

from __future__ import annotations

from mixsearch.core.held_out import spherical_spectrum as spherical_spectrum
from mixsearch.core.rank_selection import Spectrum
from mixsearch.core.second_moment import sample_mean_of
from mixsearch.data.partitions import Partitions, SamplePartition


def gaussian_spectrum(partitions: Partitions[SamplePartition], *, seed: int) -> Spectrum:
    """How many Gaussians there are: one more than the directions in which their centers differ.

    Parameters
    ----------
    partitions : Shards of samples of shape (n, d)
    seed : int
        Of the eigen-solver's starting block.
    """
    return spherical_spectrum(partitions, sample_mean_of(partitions), lambda n_signal: n_signal + 1, seed)
