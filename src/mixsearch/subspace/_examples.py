"""Whether the examples of a search are members of the subspace found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, softmax

from mixsearch._typing import Array
from mixsearch.core.example_fit import ExampleFit, posterior_of_all, typical_squares
from mixsearch.subspace._em import CoordinatePartition, SubspaceMixture, compute_coordinates, responsibilities
from mixsearch.subspace._family import SubspaceFamily

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
    """Return the agreement of examples with one subspace of a mixture.

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
    p_values = _p_values(family, mixture, Z, energy)
    return ExampleFit(float(agreement), softmax(logs, axis=1)[:, index], p_values[index], p_values.max(axis=0))


def _p_values(family: SubspaceFamily, mixture: SubspaceMixture, Z: Array, energy: Array) -> Array:
    """Return how often a member of each subspace is as far from its center as examples, or from it, (k, q)."""
    step = -(-family.partitions.n_rows // MAX_SAMPLES)
    some = family.partitions.thin(step).map(compute_coordinates, family.frame.values).collect().partition
    resp = responsibilities(mixture, some.coordinates, some.energy)
    return np.array(
        [_p_values_of(member_of(mixture, i), some, own, Z, energy) for i, own in enumerate(resp.T)], dtype=np.float64
    )


def _p_values_of(own: Gaussian, some: CoordinatePartition, resp: Array, Z: Array, energy: Array) -> Array:
    """Return how often a member is as far from the center as examples, or from the subspace, (q,)."""
    of_members, of_examples = own.squares(some.coordinates, some.energy), own.squares(Z, energy)
    inside = typical_squares(of_members[0], resp).p_values(of_examples[0])
    across = typical_squares(of_members[1] + of_members[2], resp).p_values(of_examples[1] + of_examples[2])
    return np.asarray(np.minimum(2 * np.minimum(inside, across), 1.0))
