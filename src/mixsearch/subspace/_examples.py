"""Whether the examples of a search are members of the subspace found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, softmax

from mixsearch._typing import Array
from mixsearch.core.example_fit import ExampleFit, posterior_of_all, typical_p_values
from mixsearch.data.partitions import Partition
from mixsearch.subspace._em import SubspaceMixture, responsibilities, span_coordinates
from mixsearch.subspace._moments import SubspaceFamily, SubspacePartition

# Samples among which members are found that examples are compared with.
MAX_SAMPLES = 2000
# Examples that are members are looked at more closely in at most this share of the searches.
MAX_SUSPECTED = 0.01


class Gaussian(NamedTuple):
    """One subspace in the coordinates of the span of all."""

    basis: Array  # U, (p, r), orthonormal columns
    totals: Array  # variances along them, with the noise, (r,)
    noise_variance: float
    n_outside: int  # number of directions outside the span

    def squares(self, Z: Array, energy: Array) -> tuple[Array, Array, Array]:
        """Return the squares of samples in the subspace, in the rest of the span and outside, (n,) each.

        They have r, p - r and m degrees of freedom for members.
        """
        along = Z @ self.basis
        across = np.einsum("ij,ij->i", Z, Z) - np.einsum("ij,ij->i", along, along)
        s2 = self.noise_variance
        return np.sum(along**2 / self.totals, axis=1), np.maximum(across, 0) / s2, self.n_outside * energy / s2

    def looks_typical(self, Z: Array, energy: Array) -> bool:
        """Return whether samples look like members, if coordinates and noise are normal."""
        p, r = self.basis.shape
        freedoms = (r, p - r, self.n_outside)
        p_values = [
            chdtrc(free, squares) for squares, free in zip(self.squares(Z, energy), freedoms, strict=True) if free
        ]
        return bool(np.size(p_values) * np.min(p_values) > MAX_SUSPECTED)


def member_of(mixture: SubspaceMixture, index: int) -> Gaussian:
    """Return one subspace of a mixture."""
    noise = float(mixture.noise_variances[index])
    return Gaussian(mixture.bases[index], mixture.variances[index] + noise, noise, mixture.n_outside)


def fit_examples(family: SubspaceFamily, mixture: SubspaceMixture, index: int, Z: Array, energy: Array) -> ExampleFit:
    """Return what examples say about one subspace of a mixture.

    Parameters
    ----------
    family : SubspaceFamily
    mixture : SubspaceMixture
    index : int
        Index of the subspace.
    Z : array of shape (q, p)
        Coordinates of the examples in the span.
    energy : array of shape (q,)
        Their mean squared coordinate outside the span.

    Returns
    -------
    ExampleFit
    """
    logs = mixture.log_densities(Z, energy)
    agreement = posterior_of_all(logs, np.log(mixture.weights))[index]
    return ExampleFit(float(agreement), softmax(logs, axis=1)[:, index], _p_values(family, mixture, index, Z, energy))


def _p_values(family: SubspaceFamily, mixture: SubspaceMixture, index: int, Z: Array, energy: Array) -> Array:
    """Return how often a member is as far from the center as each example, or from the subspace, (q,)."""
    own, step = member_of(mixture, index), -(-family.partitions.n_rows // MAX_SAMPLES)
    measured = family.partitions.thin(step).map(_measure, mixture, index, family.frame.values).collect().partition
    along, *across = own.squares(Z, energy)
    inside = typical_p_values(along, measured.along, measured.resp)
    outside = typical_p_values(np.sum(across, axis=0), measured.across, measured.resp)
    return np.asarray(np.minimum(2 * np.minimum(inside, outside), 1.0))


@dataclass(frozen=True)
class MemberPartition(Partition):
    """Samples with their squares in one subspace and outside, and the probability that they are members."""

    along: Array  # (n,)
    across: Array  # (n,)
    resp: Array  # (n,)


def _measure(partition: SubspacePartition, mixture: SubspaceMixture, index: int, values: Array) -> MemberPartition:
    Z = span_coordinates(partition.projected, values)
    along, *across = member_of(mixture, index).squares(Z, partition.energy)
    resp = responsibilities(mixture, Z, partition.energy)[:, index]
    return MemberPartition(partition.first, along, np.sum(across, axis=0), resp)
