"""The general procedure: any mixture whose moments (m, A, B) can be estimated."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from mixsearch._typing import Array, Matrix
from mixsearch.core.component import Component, VectorComponent
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.extraction import Extraction, ExtractionOptions, cancel_without_projection, extract
from mixsearch.core.frame import Frame, frame_from_eigenpairs
from mixsearch.core.moments import Hinted, Moments
from mixsearch.core.separation import warn_if_weak
from mixsearch.errors import HintError, SearchError


def search_moments(
    moments: Moments,
    n_components: int,
    *,
    projected: bool = True,
    random_state: int = 0,
    **extraction: Unpack[ExtractionOptions],
) -> Component:
    """Find the component that a hint means, from the moments of any mixture.

    Parameters
    ----------
    moments : Moments
        m, A and B; A and B as symmetric arrays or as linear operators.
    n_components : int
        k, the rank of A.
    projected : bool
        With cancellation: cancel inside the signal space, or as printed in the paper.
    random_state : int
        Seed of the eigen-solver where A is an operator.
    **extraction
        How the component is read off the moments: ``method="cancellation"`` and so on, the fields of `Extraction`.
        ``normaliser="hinted"`` needs `moments.hint`.

    Returns
    -------
    Component
        With `center`, `weight`, `separation`, `scores` and `alternatives`.

    Examples
    --------
    Two components, known exactly; the hint scores the first one 2 and the second one 1.

    >>> import numpy as np
    >>> from mixsearch import Moments, search_moments
    >>> centers, weights, v = np.array([[2.0, 0, 1], [0, 1, 1]]), np.array([0.3, 0.7]), np.array([1.0, 1, 0])
    >>> scores = centers @ v
    >>> found = search_moments(
    ...     Moments(
    ...         mean=weights @ centers,
    ...         second=(centers.T * weights) @ centers,
    ...         hinted=(centers.T * (weights * scores)) @ centers,
    ...     ),
    ...     n_components=2,
    ... )
    >>> found.center.round(6) + 0.0
    array([2., 0., 1.])
    >>> round(found.weight, 6), round(found.separation, 6)
    (0.3, 2.0)
    """
    how = Extraction.from_options(extraction, search_moments)
    moments = Moments(*(_as_matrix(part) for part in (moments.mean, moments.second, moments.hinted, moments.hint)))
    _check_moments(moments, n_components, needs_hint=how.normaliser == "hinted")
    if how.method == "whitening" and not projected:
        raise SearchError("projected=False needs method='cancellation': whitening lives in the signal space.")
    values, vectors, _ = top_eigenpairs(moments.second, n_components, seed=random_state)
    frame = frame_from_eigenpairs(values, vectors)
    hinted = _in_frame(moments, frame)
    if projected:
        candidates = extract(hinted, frame, how)
    else:
        frame, candidates = cancel_without_projection(
            moments, hinted, frame, how=how.cancellation, normaliser=how.normaliser
        )
    found = VectorComponent(frame, candidates)
    warn_if_weak(found.separation)
    return found


def _as_matrix(part: Any) -> Any:
    """Lists and integers as arrays of floats, sparse matrices as operators, operators as they are."""
    if part is None or isinstance(part, LinearOperator):
        return part
    if hasattr(part, "tocsr"):
        return aslinearoperator(part.tocsr().astype(np.float64))
    return np.asarray(part, dtype=np.float64)


def _in_frame(moments: Moments, frame: Frame) -> Hinted:
    """R = W'BW, W'm and W'Av."""
    W = frame.basis / np.sqrt(frame.values)
    hint = np.zeros(frame.n_components) if moments.hint is None else frame.project_hint(moments.hint)
    return Hinted(W.T @ np.asarray(moments.hinted @ W), W.T @ moments.mean, hint)


def _check_moments(moments: Moments, n_components: int, *, needs_hint: bool) -> None:
    """Shapes, symmetry and finiteness, each with both numbers."""
    d = len(moments.mean)
    for name, matrix in (("second", moments.second), ("hinted", moments.hinted)):
        if matrix.shape != (d, d):
            raise SearchError(f"Moments.{name} has shape {matrix.shape}, but a mean of length {d} needs ({d}, {d}).")
        _check_array(name, matrix)
    _check_array("mean", moments.mean)
    if not 1 <= n_components <= d:
        raise SearchError(
            f"n_components={n_components}, but moments of dimension {d} hold between 1 and {d} components: "
            "their centers must be linearly independent."
        )
    if needs_hint and moments.hint is None:
        raise HintError("normaliser='hinted' needs the hint itself: pass Moments(..., hint=v).")
    if moments.hint is not None and moments.hint.shape != (d,):
        raise HintError(f"Moments.hint has shape {moments.hint.shape}, but a mean of length {d} needs ({d},).")


def _check_array(name: str, values: Matrix | Array) -> None:
    if isinstance(values, LinearOperator):
        return
    if not np.isfinite(values).all():
        raise SearchError(f"Moments.{name} contains NaN or infinity. Check the samples that it was estimated from.")
    if values.ndim == 2 and not np.allclose(values, values.T, atol=1e-8 * float(np.abs(values).max())):
        raise SearchError(f"Moments.{name} is not symmetric. Pass (M + M.T) / 2 if only rounding is to blame.")
