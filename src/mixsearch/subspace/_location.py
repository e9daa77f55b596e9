"""The location of the samples of a fit: outliers, and whether the subspaces contain zero."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from mixsearch._typing import Array
from mixsearch.core.outliers import MIN_MEMBERS
from mixsearch.core.second_moment import MeasuredPartition, MeasuredSamples
from mixsearch.data.chunks import ArraySum
from mixsearch.errors import CenteredWarning, Option

# Samples of subspaces through zero have a mean this far from it in fewer than one of a million fits.
MIN_P_VALUE = 1e-6
# Far samples are members of a subspace that contains all but this share of their squared length, relative to the share
# that a random subspace leaves.
MAX_OUTSIDE = 0.2


def off_origin_p_value(measured: MeasuredSamples) -> float:
    """Return how often samples of subspaces through zero have a mean as far from it, at most.

    Parameters
    ----------
    measured : MeasuredSamples

    Returns
    -------
    float

    Notes
    -----
    n |mean|² is a sum of squares of normal variables, whose variances sum to the trace of the covariance. Far out no
    such sum is more likely than a single square with all of the variance.
    """
    variance = float(measured.partitions.reduce(_sum_squares).total) / measured.partitions.n_rows
    energy = float(measured.mean @ measured.mean) * measured.partitions.n_rows
    return float(chi2.sf(energy / variance, 1)) if variance > 0 else 1.0


def _sum_squares(partition: MeasuredPartition) -> ArraySum:
    return ArraySum(float(np.sum(partition.squares)))


def centered_warning(p_value: float) -> CenteredWarning:
    """Return the warning that samples are taken relative to their mean."""
    return CenteredWarning(
        "The samples lie off the origin, so subspaces are taken through their mean. If they contain zero, set "
        "{argument} to False.",
        p_value=p_value,
        argument=Option("center"),
    )


def find_subspace_members(samples: Array, dim: int) -> Array:
    """Return which far samples lie in a subspace with enough others to be its members, (n,).

    Parameters
    ----------
    samples : array of shape (n, d)
        Relative to the mean of all samples.
    dim : int
        r, the dimension of a subspace.

    Returns
    -------
    array of bool of shape (n,)
    """
    n, d = samples.shape
    is_member, min_members = np.zeros(n, dtype=bool), 2 * dim + MIN_MEMBERS
    limit = MAX_OUTSIDE * (1 - dim / d)
    units = samples / np.linalg.norm(samples, axis=1, keepdims=True)
    while np.sum(~is_member) >= min_members:
        rest = units[~is_member]
        basis = np.linalg.svd(rest, full_matrices=False)[2][:dim]
        inside = 1 - np.sum((rest @ basis.T) ** 2, axis=1) < limit
        if inside.sum() < min_members:
            break
        is_member[np.flatnonzero(~is_member)[inside]] = True
    return is_member
