"""The tensor power method of Anandkumar, Ge, Hsu, Kakade and Telgarsky (2014), and its short cut from a hint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from mixsearch._typing import Array
from mixsearch.baselines.power_iterations import PowerPairs, power_steps, robust_power_iterations
from mixsearch.baselines.third_moments import ThirdMoment
from mixsearch.core.hints import check_not_orthogonal, hint_from_direction
from mixsearch.core.validation import check_choice, check_positive_int

# Theorem 5.1 asks for poly(k) starting points. Each ends at some component, with a chance of about 1 / k at each, so
# that so many times k miss none.
RESTARTS_PER_COMPONENT = 10
# Steps converge quadratically, after about log k of them.
USUAL_ITERATIONS = 30


class OneComponent(NamedTuple):
    """One component of a mixture."""

    center: Array  # (d,)
    weight: float


@dataclass(frozen=True, slots=True)
class Components:
    """All components of a mixture, in the order in which they were found."""

    centers: Array  # (k, d)
    weights: Array  # (k,); shares of the corpus for topics. Noise keeps them from adding up to one

    def component_of(self, hint: Any) -> OneComponent:
        """The component that scores highest under a hint v, (d,)."""
        place = int(np.argmax(self.centers @ hint_from_direction(hint, self.centers.shape[1])))
        return OneComponent(self.centers[place], float(self.weights[place]))


def tensor_power(
    third: ThirdMoment,
    *,
    n_restarts: int | None = None,
    n_iterations: int = USUAL_ITERATIONS,
    normaliser: str = "value",
    random_state: Any = 0,
) -> Components:
    """Recover all components of a mixture from its third moment.

    Parameters
    ----------
    third : ThirdMoment
        As `third_moment` makes it from a fitted search.
    n_restarts : int, optional
        L, starting points for each component; 10 k by default.
    n_iterations : int, default=30
        N, power steps from each starting point, and again from the best of them.
    normaliser : {"value", "mean"}, default="value"
        What tells √αᵢ: the eigenvalue, as in the tensor power method, or the overlap with the mean, as in a search.
    random_state : int, RandomState instance or None, default=0
        Of the starting points.

    Notes
    -----
    With (λ, u) an eigenpair of T, α = λ⁻² and W'μ = λu (Theorem 4.3 there). The overlap ⟨u, W'm⟩ is √α as well. Where
    samples are seen from their mean both agree but for what was taken off before: W'm is the constant coordinate e, and
    T(·, ·, e) = I, so that λ⟨u, e⟩ = T(u, u, e) = 1.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.baselines import tensor_power, third_moment
    >>> from mixsearch.datasets import make_gaussian_mixture, make_hint
    >>> data = make_gaussian_mixture(4000, 30, 4, random_state=0)
    >>> search = GaussianSearch(n_components=4).fit(data.X)
    >>> found = tensor_power(third_moment(search))
    >>> one = found.component_of(make_hint(data.centers, 2))
    >>> bool(abs(one.center - data.centers[2]).max() < 0.2)
    True
    """
    check_choice("normaliser", normaliser, ("value", "mean"))
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    n_starts = RESTARTS_PER_COMPONENT * third.n_components if n_restarts is None else n_restarts
    return _components(third, robust_power_iterations(third.tensor, n_starts, n_iterations, rng), normaliser)


def fast_tensor_power(
    third: ThirdMoment, hint: Any, *, n_iterations: int = USUAL_ITERATIONS, normaliser: str = "value"
) -> OneComponent:
    """Recover the one component that power steps from a hint lead to: the paper's Fast-TPM.

    Parameters
    ----------
    third : ThirdMoment
        As `third_moment` makes it from a fitted search.
    hint : array of shape (d,)
        v, under which the wanted component scores further from zero than all others.
    n_iterations : int, default=30
        N, power steps.
    normaliser : {"value", "mean"}, default="value"
        As in `tensor_power`.

    Notes
    -----
    The paper does not say how v enters the frame. Steps from θ lead to the component of the largest |λᵢ⟨uᵢ, θ⟩|. With
    θ = W'Av, the hint in the frame, this is |⟨μᵢ, v⟩|, so that the condition on the hint is all they need.
    """
    check_choice("normaliser", normaliser, ("value", "mean"))
    check_positive_int("n_iterations", n_iterations)
    v = hint_from_direction(hint, third.frame.basis.shape[0])
    if third.n_components > 1:
        check_not_orthogonal(third.frame, v, scale=float(np.linalg.norm(v)))
    start = third.frame.project_hint(v)
    found = _components(third, power_steps(third.tensor, start[:, None], n_iterations), normaliser)
    return OneComponent(found.centers[0], float(found.weights[0]))


def _components(third: ThirdMoment, pairs: PowerPairs, normaliser: str) -> Components:
    """Centers and weights, from 1/√αᵢ as eigenvalue or from √αᵢ as overlap with the mean."""
    roots = third.mean @ pairs.vectors if normaliser == "mean" else _reciprocal(pairs.values)
    centers = third.frame.unwhiten(pairs.vectors * _reciprocal(roots)).T
    return Components(np.ascontiguousarray(centers), roots**2 / third.total)


def _reciprocal(values: Array) -> Array:
    """One over each, and zero for zero: what has no weight has no center either."""
    return 1 / np.where(values == 0, np.inf, values)
