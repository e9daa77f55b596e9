"""Estimate the number of Gaussians."""

from __future__ import annotations

from mixsearch.core.rank_selection import Spectrum, spherical_spectrum
from mixsearch.core.second_moment import sample_mean_of
from mixsearch.data.partitions import Partitions, SamplePartition


def gaussian_spectrum(partitions: Partitions[SamplePartition], *, seed: int) -> Spectrum:
    """Count the Gaussians: one more than the directions in which their centers differ.

    Parameters
    ----------
    partitions : Partitions of samples of shape (n, d)
    seed : int
        Seed of the eigensolver's starting block.

    Returns
    -------
    Spectrum
    """
    return spherical_spectrum(partitions, sample_mean_of(partitions), lambda n_signal: n_signal + 1, seed)
