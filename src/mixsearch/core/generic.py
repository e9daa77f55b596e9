"""The general procedure: any mixture whose moments (m, A, B) can be estimated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from mixsearch._typing import Array
from mixsearch.core.check import check_lead
from mixsearch.core.component import C, Component, add_warnings
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.extraction import Candidates, extract_by_whitening, extract_with_rehint
from mixsearch.core.family import Family
from mixsearch.core.frame import frame_from_eigenpairs
from mixsearch.core.moments import Hinted, Moments
from mixsearch.core.validation import check_not_orthogonal, hint_from_direction
from mixsearch.errors import ArgumentError, Option, SearchError


def search_moments(
    moments: Moments,
    n_components: int,
    *,
    random_state: int = 0,
) -> Component:
    """Find the component that a hint means, from the moments of any mixture.

    Parameters
    ----------
    moments : Moments
        m, A and B; A and B as symmetric arrays or as linear operators.
    n_components : int
        k, the rank of A.
    random_state : int
        Seed of the eigensolver, used if A is an operator.

    Returns
    -------
    Component
        With `center`, `weight`, `separation`, `scores` and `alternatives`.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch import Moments, search_moments
    >>> centers, weights, scores = np.array([[2.0, 0, 1], [0, 1, 1]]), np.array([0.3, 0.7]), np.array([2.0, 1.0])
    >>> second, hinted = ((centers.T * each) @ centers for each in (weights, weights * scores))
    >>> found = search_moments(Moments(weights @ centers, second, hinted), n_components=2)
    >>> found.center.round(6) + 0.0, round(found.weight, 6), round(found.separation, 6)
    (array([2., 0., 1.]), 0.3, 2.0)
    """
    moments = Moments(*(_as_matrix(part) for part in (moments.mean, moments.second, moments.hinted)))
    _check_moments(moments, n_components)
    values, vectors, _ = top_eigenpairs(moments.second, n_components, seed=random_state)
    frame = frame_from_eigenpairs(values, vectors)
    W = frame.basis / np.sqrt(frame.values)
    hinted = Hinted(W.T @ np.asarray(moments.hinted @ W), W.T @ moments.mean, np.zeros(n_components))
    found = Component(frame, extract_by_whitening(hinted))
    return add_warnings(found, check_lead(found))


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


def _as_matrix(part: Any) -> Any:
    """Convert lists to float arrays and sparse matrices to operators."""
    if part is None or isinstance(part, LinearOperator):
        return part
    if hasattr(part, "tocsr"):
        return aslinearoperator(part.tocsr().astype(np.float64))
    return np.asarray(part, dtype=np.float64)


def _check_moments(moments: Moments, n_components: int) -> None:
    """Check shapes, finiteness and symmetry."""
    d = len(moments.mean)
    for name, shape in (("mean", (d,)), ("second", (d, d)), ("hinted", (d, d))):
        values: Any = getattr(moments, name)
        code = sentence = ""
        if values.shape != shape:
            code, sentence = (
                "moments_shape",
                "Moments.{name} has shape {shape}, but a mean of length {d} needs {needed}.",
            )
        elif isinstance(values, LinearOperator):
            continue
        elif not np.isfinite(values).all():
            code = "moments_not_finite"
            sentence = "Moments.{name} contains NaN or infinity. Check the samples it was estimated from."
        elif values.ndim == 2 and not np.allclose(values, values.T, atol=1e-8 * float(np.abs(values).max())):
            code = "moments_not_symmetric"
            sentence = "Moments.{name} is not symmetric. Pass (M + M.T) / 2 if only rounding is to blame."
        if code:
            raise SearchError(sentence, code=code, name=name, shape=values.shape, d=d, needed=shape)
    if not 1 <= n_components <= d:
        raise ArgumentError(
            "{argument} must be between 1 and {d} for moments of dimension {d}, got {value}: centers must be linearly "
            "independent.",
            argument=Option("n_components"),
            value=n_components,
            d=d,
        )
