"""A fitted mixture of linear regressions: its moments, contracted with a hint and without groups of samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import chdtrc

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.tensor import rotate, symmetrize
from mixsearch.data.partitions import Partitions
from mixsearch.regression._design import Design
from mixsearch.regression._normality import NormalityCheck
from mixsearch.regression._partition import RegressionPartition, hinted_sums, take_coordinates, tensor_sums
from mixsearch.regression._replicates import (
    FullMoments,
    RegressionSums,
    coordinate_covariance,
    full_moments,
    replicate_contributions,
    replicate_hint_shifts,
    replicate_moments,
    replicate_residuals,
    sum_groups,
)

# Up to this many coordinates in the frame, and numbers in the sums over groups, sums that serve every hint are kept.
MAX_COORDINATES, MAX_SUMS = 12, 2_000_000


@dataclass(frozen=True)
class RegressionFamily:
    """The fitted moments of a mixture of regressions, with t = y - offset and x standardized.

    Attributes
    ----------
    frame : Frame
        The signal space, for standardized x.
    design : Design
        How x was standardized.
    offset : float
        Subtracted from y.
    mean : array of shape (k,)
        W'm.
    cross_moment : array of shape (k,)
        W'E[t²x]: twice the intercepts, before they are centered.
    intercepts : array of shape (k,)
        W'Σ αᵢbᵢμᵢ.
    energies : array of shape (k,)
        W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ.
    linear : float
        The coefficient 3 E[t²] of t in the weight function; 0 for the paper's third power.
    noise_level : float
        t2 / 2, the level above which eigenvalues are signal.
    partitions : Partitions
        The samples, with their coordinates in the frame.
    fit_intercept : bool
        Whether every component has its own intercept.
    n_components : int
        k. If it exceeds the number of coordinates, the frame is the whole space.
    n_fitted : int
        The dimension of the signal space at fit, to which `noise_level` refers.
    power : float
        E[t²].
    normality : NormalityCheck, optional
        Whether x is normal; None for the paper's moments, which take it for granted, and for a single regression.
    has_frame : bool
        Whether the second moment shows a direction for every component; if not, the frame is the whole space.
    """

    frame: Frame
    design: Design
    offset: float
    mean: Array
    cross_moment: Array
    intercepts: Array
    energies: Array
    linear: float
    noise_level: float
    partitions: Partitions[RegressionPartition]
    fit_intercept: bool = True
    n_hints: ClassVar[int] = 1
    n_components: int = 0
    n_fitted: int = 0
    power: float = 0.0
    normality: NormalityCheck | None = None
    has_frame: bool = True

    @property
    def is_normal(self) -> bool:
        """Whether x is normal enough for moments."""
        return self.normality is None or self.normality.is_normal

    @property
    def has_moments(self) -> bool:
        """Whether moments can separate the components: their coefficients may be linearly independent."""
        return self.has_frame and self.n_components <= self.frame.n_components

    @property
    def is_small(self) -> bool:
        """Whether sums that serve every hint are kept once they are computed."""
        k = self.frame.n_components
        return k <= MAX_COORDINATES and self.partitions.n_groups * k * self.partitions.n_features <= MAX_SUMS

    @cached_property
    def full_moments(self) -> FullMoments:
        """The moments that the jackknife changes to first order."""
        return full_moments(self)

    @cached_property
    def group_sums(self) -> RegressionSums:
        """Sums over all samples but one group, for all hints."""
        return sum_groups(self, np.eye(self.frame.n_components))

    @cached_property
    def group_contributions(self) -> Array:
        """Averages over all samples but one group that give the shift of any direction, (B, d, k)."""
        return replicate_contributions(self)

    @cached_property
    def _coordinate_precision(self) -> Array:
        """The inverse covariance of the coordinates of a unit vector of which the components know nothing, (k, k)."""
        return np.linalg.pinv(coordinate_covariance(self), hermitian=True)

    @property
    def noise_variance(self) -> float:
        """The average variance of the noise, Σ αᵢσᵢ².

        Notes
        -----
        E[t²] = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), where Σ αᵢ|μᵢ|² = tr A, and Σ αᵢbᵢ² = |W'Σ αᵢbᵢμᵢ|² because the vectors √αᵢW'μᵢ
        are orthonormal.
        """
        return max(self.power - float(self.frame.values.sum() + self.intercepts @ self.intercepts), 0.0)

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint.

        Parameters
        ----------
        hint : array of shape (k,)
            In the frame.

        Returns
        -------
        Hinted
        """
        third, first = self.partitions.reduce(hinted_sums, hint, self.linear)
        return self.correct(third / self.partitions.n_rows, first / self.partitions.n_rows, hint)

    def contract_again(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint, from what is kept of it.

        Parameters
        ----------
        hint : array of shape (k,)
            In the frame.

        Returns
        -------
        Hinted
            As `hinted`, but without sums over samples if they are kept.
        """
        if not self.is_small:
            return self.hinted(hint)
        return Hinted(np.tensordot(hint, self.full_moments.tensor, axes=1), self.mean, hint)

    def correct(self, third: Array, first: Array, hint: Array) -> Hinted:
        """Return the hinted moment from averages over samples.

        Parameters
        ----------
        third : array of shape (k, k)
            W'E[f(y)⟨x, v⟩xx']W.
        first : array of shape (k,)
            W'E[f(y)x].
        hint : array of shape (k,)
            In the frame.

        Returns
        -------
        Hinted

        Notes
        -----
        6B = E[f(y)⟨x, v⟩xx'] - M v' - v M' - ⟨M, v⟩I with M = E[f(y) x]: the third Hermite tensor of x against f(y).
        The paper has f(y) = y³. That tensor has expectation 0 against y itself, so any multiple of y may be subtracted
        to lower the variance; with 3 E[y²] y, f is the third Hermite polynomial of y.
        """
        spread = self.frame.spread
        cross = np.outer(first, spread * hint)
        matrix = third - cross - cross.T - (first @ hint) * np.diag(spread)
        return Hinted(matrix / 6, self.mean, hint)

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis.

        Parameters
        ----------
        basis : array of shape (k, q)
            Orthonormal columns, each a hint in the frame.

        Returns
        -------
        array of shape (q, q, q)
        """
        if self.is_small:
            return rotate(self.full_moments.tensor, basis)
        third, first = self.partitions.reduce(tensor_sums, basis, self.linear)
        return self.correct_tensor(third / self.partitions.n_rows, first / self.partitions.n_rows, basis)

    def correct_tensor(self, third: Array, first: Array, basis: Array) -> Array:
        """Return the third moment from averages over samples.

        Parameters
        ----------
        third : array of shape (q, q, q)
            W'E[f(y) x⊗x⊗x]W in the basis.
        first : array of shape (q,)
            W'E[f(y)x] in the basis.
        basis : array of shape (k, q)
            Orthonormal columns.

        Returns
        -------
        array of shape (q, q, q)
        """
        identity = (basis.T * self.frame.spread) @ basis
        return np.asarray((third - symmetrize(np.multiply.outer(identity, first))) / 6)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all samples but one group, for each group in turn.

        Parameters
        ----------
        hint : array of shape (k,)
            In the frame.

        Returns
        -------
        Replicates
        """
        return replicate_moments(self, hint)

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all samples but one group, up to vectors of the signal space.

        Parameters
        ----------
        direction : array of shape (k,)
            u, the direction of a component in the frame.

        Returns
        -------
        array of shape (r, B)
        """
        return replicate_residuals(self, direction)

    def hint_shifts(self, hint: Array) -> Array:
        """Return how the coordinates of a hint shift with the frame of all samples but one group.

        Parameters
        ----------
        hint : array of shape (r,)
            A direction for standardized x.

        Returns
        -------
        array of shape (B, k)
        """
        return replicate_hint_shifts(self, hint)

    def information_p_value(self, hint: Array) -> float:
        """Test whether a direction is informative.

        Parameters
        ----------
        hint : array of shape (r,)
            A direction for standardized x.

        Returns
        -------
        float
            The probability that an uninformative direction has coordinates in the frame at least as large.
        """
        c = self.frame.project_hint(hint)
        return float(chdtrc(len(c), c @ self._coordinate_precision @ c / (hint @ hint)))

    def thin(self, step: int) -> RegressionFamily:
        """Return the same fit with every `step`-th sample only.

        Parameters
        ----------
        step : int
            From one sample to the next.

        Returns
        -------
        RegressionFamily
        """
        return replace(self, partitions=self.partitions.thin(step))

    def take(self, n_components: int) -> RegressionFamily:
        """Return the same fit with the first components only.

        Parameters
        ----------
        n_components : int
            The number of components to keep.

        Returns
        -------
        RegressionFamily
        """
        k = n_components
        return replace(
            self,
            n_components=k,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            cross_moment=self.cross_moment[:k],
            intercepts=self.intercepts[:k],
            energies=self.energies[:k],
            partitions=self.partitions.map(take_coordinates, k),
        )
