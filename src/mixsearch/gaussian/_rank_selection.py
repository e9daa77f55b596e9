"""How many Gaussians there are."""

from __future__ import annotations

from mixsearch.core.held_out import spherical_spectrum as spherical_spectrum
from mixsearch.core.rank_selection import Spectrum
from mixsearch.core.second_moment import mean_of
from mixsearch.data.partitions import SampleShard, Shards


def gaussian_spectrum(shards: Shards[SampleShard], *, seed: int) -> Spectrum:
    """How many Gaussians there are: one more than the directions in which their centers differ.

    Parameters
    ----------
    shards : Shards of samples of shape (n, d)
    seed : int
        Of the eigen-solver's starting block.
    """
    return spherical_spectrum(shards, mean_of(shards), lambda n_signal: n_signal + 1, seed)
