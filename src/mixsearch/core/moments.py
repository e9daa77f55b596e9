"""Moments of a mixture: as a user estimates them, and as a hint contracts them in a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mixsearch._typing import Array, Matrix


@dataclass(frozen=True, slots=True)
class Moments:
    """The moments of a mixture of any kind, estimated by the user.

    Parameters
    ----------
    mean : array of shape (d,)
        m = Σ αᵢ μᵢ.
    second : array or LinearOperator of shape (d, d)
        A = Σ αᵢ μᵢ μᵢ', symmetric.
    hinted : array or LinearOperator of shape (d, d)
        B = Σ αᵢ ⟨μᵢ, v⟩ μᵢ μᵢ', symmetric.
    hint : array of shape (d,), optional
        v itself; only ``normaliser="hinted"`` needs it.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch import Moments, search_moments
    >>> centers, weights, v = np.array([[2.0, 0, 1], [0, 1, 1]]), np.array([0.3, 0.7]), np.array([1.0, 1, 0])
    >>> second = (centers.T * weights) @ centers
    >>> hinted = (centers.T * (weights * (centers @ v))) @ centers
    >>> found = search_moments(Moments(weights @ centers, second, hinted), n_components=2)
    >>> abs(found.center).round(3), round(found.weight, 3)
    (array([2., 0., 1.]), 0.3)
    """

    mean: Array
    second: Matrix
    hinted: Matrix
    hint: Array | None = None


@dataclass(frozen=True, slots=True)
class Hinted:
    """The moments of a mixture in its frame, contracted with a hint."""

    matrix: Array  # R = W'BW, (k, k)
    mean: Array  # W'm, (k,)
    hint: Array  # c = W'Av, (k,): the hint in the frame; one column each for several points, (k, q)


class Replicates(NamedTuple):
    """The moments of all samples but one group, for each of B groups, in the frame of all samples."""

    second: Array  # W'AW, (B, k, k): near the identity
    hinted: Array  # R = W'BW, (B, k, k)
    mean: Array  # W'm, (B, k)
