"""Make a hint of a chosen strength from the true parameters of a mixture."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.datasets._random import RandomState, make_generator
from mixsearch.errors import ArgumentError, Option


def make_hint(parameters: ArrayLike, target: int = 0, *, gamma: float = 0.7, random_state: RandomState = 0) -> Array:
    """Make a hint of a chosen strength: √γ v₁ + √((1-γ)/(k-1)) Σ vᵢ, as in section 4.1 of the paper.

    Parameters
    ----------
    parameters : array of shape (k, d) or (k, d, r)
        Centers, or bases of subspaces.
    target : int
        The index of the component that the hint is for.
    gamma : float
        The strength, in (0, 1]: the fraction of the squared hint that is orthogonal to all other components.
    random_state : int, RandomState instance or None
        The seed of a random rotation of the vᵢ.

    Returns
    -------
    array of shape (d,)
        v₁ is the direction of the target orthogonal to the span of the others, and the vᵢ are an orthonormal basis of
        that span.

    Examples
    --------
    >>> import numpy as np
    >>> make_hint(np.eye(3), target=1, gamma=1.0).round(6) + 0.0
    array([0., 1., 0.])
    """
    if not 0 < gamma <= 1:
        raise ArgumentError(
            "{argument} must be above 0 and at most 1, got {value!r}.", argument=Option("gamma"), value=gamma
        )
    given = np.asarray(parameters)
    shaped = given[:, :, None] if given.ndim == 2 else given
    own = shaped[target]
    if len(shaped) == 1:
        return np.asarray(own[:, 0] / np.linalg.norm(own[:, 0]))
    span, _ = np.linalg.qr(np.concatenate(np.delete(shaped, target, axis=0), axis=1))
    rng = make_generator(random_state)
    rotation, _ = np.linalg.qr(rng.standard_normal((span.shape[1], span.shape[1])))
    direction = own @ rng.standard_normal(own.shape[1]) if given.ndim == 3 else own[:, 0]
    residual = direction - span @ (span.T @ direction)
    mixed = span @ rotation.sum(axis=1) / np.sqrt(span.shape[1])
    return np.asarray(np.sqrt(gamma) * residual / np.linalg.norm(residual) + np.sqrt(1 - gamma) * mixed)
