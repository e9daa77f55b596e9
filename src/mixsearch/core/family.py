"""The contract of a family, and the search of any family."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.core.check import check_lead
from mixsearch.core.component import C, Component, add_warnings
from mixsearch.core.extraction import Candidates, extract_by_whitening, extract_with_rehint
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.rows import Chunks
from mixsearch.core.validation import check_not_orthogonal, hint_from_direction

Preset = Literal["default", "paper"]


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
    >>> family: Family = fit_gaussian(samples, 3, paper=False, seed=0)
    >>> family.mean.shape
    (3,)
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


def search_family(family: Family, hint: ArrayLike, *, rehint: bool = True) -> Component:
    """Find the component of any fitted family that a direction means.

    Parameters
    ----------
    family : Family
        The fitted moments: see ``docs/adding-a-family.md``.
    hint : array of shape (d,)
        A direction v in which the parameter of the component lies further out than all others.
    rehint : bool, default=True
        If the lead is small, contract the moments again with the component found as the hint.

    Returns
    -------
    Component
        With `center`, `weight`, `separation`, `p_first`, `alternatives` and `stderr`.

    Examples
    --------
    >>> from mixsearch import search_family
    >>> from mixsearch.core.rows import chunk_in_memory
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> from mixsearch.gaussian import fit_gaussian
    >>> data = make_gaussian_mixture(2000, 10, 3, random_state=0)
    >>> family = fit_gaussian(chunk_in_memory(data.X), 3, paper=False, seed=0)
    >>> found = search_family(family, data.centers[1] - data.X.mean(axis=0))
    >>> bool(abs(found.center - data.centers[1]).max() < 1)
    True
    """
    v = hint_from_direction(hint, len(family.frame.basis))
    check_not_orthogonal(family.frame, v, scale=float(np.linalg.norm(v)))
    found = find_component(Component, family, family.frame.project_hint(v), rehint=rehint)
    return add_warnings(found, check_lead(found))


def find_component(kind: type[C], family: Any, hint: Array, *, rehint: bool, **fields: Any) -> C:
    """Contract the third moment with a hint in the frame, (k,), and return the component that it means (Algorithm 1).

    `fields` are those of its kind.
    """
    hinted = family.hinted(hint)
    if not getattr(family, "has_moments", True):  # only the likelihood separates its components
        extracted: tuple[Candidates, Array | None] = Candidates(np.zeros((1, 0)), *[np.zeros(0)] * 3), None
    else:
        extracted = extract_with_rehint(family.hinted, hinted) if rehint else (extract_by_whitening(hinted), None)
    return kind(family.frame, extracted[0], _family=family, _hinted=hinted, _rehint=extracted[1], **fields)
