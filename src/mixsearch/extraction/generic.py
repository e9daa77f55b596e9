"""The general procedure: any mixture whose moments (m, A, B) can be estimated."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from mixsearch.errors import HintError, SearchError, WeakHintWarning, warn_user
from mixsearch.extraction.cancellation import CancellationRule, cancel_without_projection, extract_by_cancellation
from mixsearch.extraction.whitening import extract_by_whitening
from mixsearch.linalg import frame_above, top_eigenpairs
from mixsearch.types import Array, Candidates, Component, Frame, Hinted, Matrix, Moments

# Below this lead over the runner-up, the hint is called weak.
WEAK_SEPARATION = 1.1

_CHOICES = {
    "method": ("whitening", "cancellation"),
    "choose": ("largest", "share"),
    "normaliser": ("mean", "hinted"),
    "rule": ("psd", "threshold", "nuclear"),
}


class ExtractionOptions(TypedDict, total=False):
    """The keyword arguments of `Extraction`, as every `search` takes them."""

    method: Literal["whitening", "cancellation"]
    choose: Literal["largest", "share"]
    normaliser: Literal["mean", "hinted"]
    rule: Literal["psd", "threshold", "nuclear"]
    threshold: float


@dataclass(frozen=True, slots=True)
class Extraction:
    """How a component is read off the hinted moments.

    Attributes
    ----------
    method : {"whitening", "cancellation"}
        Algorithm 1 or Algorithm 2 of the paper.
    choose : {"largest", "share"}
        With whitening: the component of the largest score ⟨μᵢ, v⟩, or of the largest share αᵢ⟨μᵢ, v⟩² of the hint.
    normaliser : {"mean", "hinted"}
        What tells a component's weight: (m, A), or (Av, B).
    rule : {"psd", "threshold", "nuclear"}
        With cancellation: how λ is found.
    threshold : float
        With that rule: the part of the k-th singular value of A at which λ stops.
    """

    method: str = "whitening"
    choose: str = "largest"
    normaliser: str = "mean"
    rule: str = "psd"
    threshold: float = 0.05

    @classmethod
    def of(cls, options: ExtractionOptions) -> Extraction:
        """From the keyword arguments of a search, of which those unknown are named."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise TypeError(
                    f"search() got an unexpected argument {name!r}. Besides its hint it takes {', '.join(known)}."
                )
        return cls(**options)

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise SearchError(f"{name} must be one of {', '.join(allowed)}; found {getattr(self, name)!r}.")
        if self.method == "cancellation" and self.choose == "share":
            raise SearchError("choose='share' needs method='whitening': cancellation always finds the largest score.")
        if not 0 < self.threshold < 1:
            raise SearchError(f"threshold must lie between 0 and 1, both excluded; found {self.threshold!r}.")

    @property
    def cancellation(self) -> CancellationRule:
        """The rule for λ."""
        return CancellationRule(self.rule, self.threshold)


def extract(hinted: Hinted, frame: Frame, how: Extraction) -> Candidates:
    """Recover the component that the hint means, and the others with it."""
    if how.method == "cancellation":
        return extract_by_cancellation(hinted, frame, how=how.cancellation, normaliser=how.normaliser)
    return extract_by_whitening(hinted, choose=how.choose, normaliser=how.normaliser)


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
    how = Extraction.of(extraction)
    moments = Moments(*(_as_matrix(part) for part in (moments.mean, moments.second, moments.hinted, moments.hint)))
    _check_moments(moments, n_components, needs_hint=how.normaliser == "hinted")
    if how.method == "whitening" and not projected:
        raise SearchError("projected=False needs method='cancellation': whitening lives in the signal space.")
    values, vectors, _ = top_eigenpairs(moments.second, n_components, seed=random_state)
    frame = frame_above(values, vectors)
    hinted = _in_frame(moments, frame)
    if projected:
        candidates = extract(hinted, frame, how)
    else:
        frame, candidates = cancel_without_projection(
            moments, hinted, frame, how=how.cancellation, normaliser=how.normaliser
        )
    found = Component(frame, candidates)
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


def warn_if_weak(separation: float) -> None:
    """Say in words that the hint does not single out one component."""
    if separation < WEAK_SEPARATION:
        warn_user(
            WeakHintWarning(
                f"The hint hardly singles out a component: the one found leads the runner-up by a factor of "
                f"{separation:.2f} only, and 1 means a tie. Look at `alternatives`, or give a more specific hint "
                "(more examples, another word, a direction in which the components differ)."
            )
        )
