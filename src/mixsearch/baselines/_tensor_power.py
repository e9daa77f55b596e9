"""The tensor power method of Anandkumar, Ge, Hsu, Kakade and Telgarsky (2014), and its form started at a hint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mixsearch._typing import Array
from mixsearch.baselines._power_iterations import PowerPairs, iterate_power, robust_power_iterations
from mixsearch.baselines._third_moments import ThirdMoment
from mixsearch.core.hints import check_not_orthogonal, hint_from_direction
from mixsearch.core.validation import check_choice, check_positive_int

# Theorem 5.1 needs poly(k) starting points. Each converges to a component, to any of them with probability about 1 / k,
# so that this many times k find all of them.
STARTS_PER_COMPONENT = 10
# Convergence is quadratic, after about log k iterations.
MAX_ITER = 30

Normaliser = Literal["value", "mean"]


class OneComponent(NamedTuple):
    """One component of a mixture.

    Attributes
    ----------
    center : array of shape (d,)
        The center.
    weight : float
        The weight.
    """

    center: Array
    weight: float


@dataclass(frozen=True, slots=True)
class Components:
    """All components of a mixture, in the order of discovery.

    Attributes
    ----------
    centers : array of shape (k, d)
        The center of each component.
    weights : array of shape (k,)
        The estimates need not sum to one. For topics, shares of the corpus.
    """

    centers: Array
    weights: Array

    def find_component(self, hint: ArrayLike) -> OneComponent:
        """Find the component with the largest inner product of center and hint.

        Parameters
        ----------
        hint : array of shape (d,)
            The direction v.

        Returns
        -------
        OneComponent
        """
        index = int(np.argmax(self.centers @ hint_from_direction(hint, self.centers.shape[1])))
        return OneComponent(self.centers[index], float(self.weights[index]))


def tensor_power(
    third: ThirdMoment,
    *,
    n_init: int | None = None,
    max_iter: int = MAX_ITER,
    normaliser: Normaliser = "value",
    random_state: int | np.random.RandomState | None = 0,
) -> Components:
    """Recover all components of a mixture from its third moment.

    Parameters
    ----------
    third : ThirdMoment
        The result of `compute_third_moment` for a fitted search.
    n_init : int, optional
        The number L of starting points for each component; 10 k by default.
    max_iter : int, default=30
        The maximum number N of iterations from each starting point, and again from the best of them.
    normaliser : {"value", "mean"}, default="value"
        Estimate √αᵢ from the eigenvalue, as in the tensor power method, or from the overlap with the mean, as in a
        search.
    random_state : int, RandomState instance or None, default=0
        The seed of the starting points.

    Returns
    -------
    Components

    Notes
    -----
    With (λ, u) an eigenpair of T, α = λ⁻² and W'μ = λu (Theorem 4.3 there). The overlap ⟨u, W'm⟩ is √α as well. For
    centered samples both agree up to the deflation: W'm is the constant coordinate e, and T(·, ·, e) = I, so that
    λ⟨u, e⟩ = T(u, u, e) = 1.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.baselines import tensor_power, compute_third_moment
    >>> from mixsearch.datasets import make_gaussian_mixture, make_hint
    >>> data = make_gaussian_mixture(4000, 30, 4, random_state=0)
    >>> search = GaussianSearch(n_components=4).fit(data.X)
    >>> found = tensor_power(compute_third_moment(search))
    >>> one = found.find_component(make_hint(data.centers, 2))
    >>> bool(abs(one.center - data.centers[2]).max() < 0.2)
    True
    """
    check_choice("normaliser", normaliser, ("value", "mean"))
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    n_starts = STARTS_PER_COMPONENT * third.n_components if n_init is None else n_init
    return _make_components(third, robust_power_iterations(third.tensor, n_starts, max_iter, rng), normaliser)


def fast_tensor_power(
    third: ThirdMoment, hint: ArrayLike, *, max_iter: int = MAX_ITER, normaliser: Normaliser = "value"
) -> OneComponent:
    """Recover one component by power iterations from a hint: the paper's Fast-TPM.

    Parameters
    ----------
    third : ThirdMoment
        The result of `compute_third_moment` for a fitted search.
    hint : array of shape (d,)
        The hint v. The component with the largest |⟨μᵢ, v⟩| is found.
    max_iter : int, default=30
        The maximum number N of iterations.
    normaliser : {"value", "mean"}, default="value"
        As in `tensor_power`.

    Returns
    -------
    OneComponent

    Notes
    -----
    The paper does not define how v enters the frame. Iterations from θ converge to the component with the largest
    |λᵢ⟨uᵢ, θ⟩|. With θ = W'Av, the hint in the frame, this is |⟨μᵢ, v⟩|, the condition on the hint.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.baselines import compute_third_moment, fast_tensor_power
    >>> from mixsearch.datasets import make_gaussian_mixture, make_hint
    >>> data = make_gaussian_mixture(4000, 30, 4, random_state=0)
    >>> third = compute_third_moment(GaussianSearch(n_components=4).fit(data.X))
    >>> one = fast_tensor_power(third, make_hint(data.centers, 2))
    >>> bool(abs(one.center - data.centers[2]).max() < 0.2)
    True
    """
    check_choice("normaliser", normaliser, ("value", "mean"))
    check_positive_int("max_iter", max_iter)
    v = hint_from_direction(hint, third.frame.basis.shape[0])
    if third.n_components > 1:
        check_not_orthogonal(third.frame, v, scale=float(np.linalg.norm(v)))
    start = third.frame.project_hint(v)
    found = _make_components(third, iterate_power(third.tensor, start[:, None], max_iter), normaliser)
    return OneComponent(found.centers[0], float(found.weights[0]))


def _make_components(third: ThirdMoment, pairs: PowerPairs, normaliser: Normaliser) -> Components:
    """Return centers and weights, from eigenvalues 1/√αᵢ or from overlaps √αᵢ with the mean."""
    roots = third.mean @ pairs.vectors if normaliser == "mean" else _invert(pairs.values)
    centers = third.frame.unwhiten(pairs.vectors * _invert(roots)).T
    return Components(np.ascontiguousarray(centers), roots**2 / third.total)


def _invert(values: Array) -> Array:
    """Return one over each value, and zero for zero: a component without weight has no center."""
    return 1 / np.where(values == 0, np.inf, values)
