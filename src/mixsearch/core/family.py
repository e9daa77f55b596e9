"""The contract of a family."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.rows import Chunks

Preset = Literal["default", "paper"]


@runtime_checkable
class Family(Protocol):
    """The moments of a mixture, fitted to samples, in the coordinates of their frame.

    Its frame holds the parameters μᵢ; samples may have further columns, such as responses or other views.

    A family is fitted without a hint; each hint then costs one pass over the samples in k coordinates.
    `mixsearch.testing.check_family` checks the contract; ``docs/adding-a-family.md`` builds a family step by step.

    Examples
    --------
    >>> from mixsearch.core.family import Family
    >>> from mixsearch.core.rows import chunk_in_memory
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> from mixsearch.gaussian import fit_gaussian
    >>> samples = chunk_in_memory(make_gaussian_mixture(800, 10, 3, random_state=0).X)
    >>> family = fit_gaussian(samples, 3, paper=False, seed=0)
    >>> isinstance(family, Family), family.mean.shape
    (True, (3,))
    """

    @property
    def frame(self) -> Frame:
        """The signal space, in which the second moment A is the identity."""

    @property
    def mean(self) -> Array:
        """W'm, (k,)."""

    @property
    def chunks(self) -> Chunks[Any]:
        """The samples, with their coordinates in the frame."""

    @property
    def n_components(self) -> int:
        """The number of components of the fit."""

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint.

        Parameters
        ----------
        hint : array of shape (k,)
            c, with ⟨x, v⟩ = ⟨W'x, c⟩ in the signal space.

        Returns
        -------
        Hinted
            R = W'BW and W'm.
        """

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis at once.

        Parameters
        ----------
        basis : array of shape (k, q)
            Orthonormal columns, each a hint in the frame.

        Returns
        -------
        array of shape (q, q, q)
            T with Σ cₐTₐ = basis' R(basis c) basis.
        """

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all samples but one group, for each group of the jackknife in turn.

        Parameters
        ----------
        hint : array of shape (k,)
            As `hinted` takes it.

        Returns
        -------
        Replicates
            A, B and m in the frame of all samples.
        """

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all samples but one group, up to vectors of the signal space.

        Parameters
        ----------
        direction : array of shape (k,)
            u, the direction of a component in the frame.

        Returns
        -------
        array of shape (d, B)
            The part outside the signal space shows how much the component varies there.
        """


F = TypeVar("F", bound=Family)
