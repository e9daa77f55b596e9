"""Hinted moments -> component: whitening and cancellation, Algorithms 1 and 2 of the paper. Knows no family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.cancellation import (
    CancellationRule,
    find_missing_component,
    find_signed_rate,
    refuse_no_mass,
    top_singular_vectors,
)
from mixsearch.core.component import Candidates
from mixsearch.core.eigen import as_operator, top_eigenpairs
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Moments
from mixsearch.core.separation import DOUBTFUL_SEPARATION
from mixsearch.core.validation import check_choice, reject_unknown_arguments
from mixsearch.errors import ArgumentError, Option

_CHOICES = {
    "method": ("whitening", "cancellation"),
    "choose": ("largest", "absolute", "share"),
    "normaliser": ("mean", "hinted"),
    "rule": ("psd", "threshold", "nuclear"),
}


class ExtractionOptions(TypedDict, total=False):
    """The keyword arguments of `Extraction`, as every `search` takes them."""

    method: Literal["whitening", "cancellation"]
    choose: Literal["largest", "absolute", "share"]
    normaliser: Literal["mean", "hinted"]
    rule: Literal["psd", "threshold", "nuclear"]
    threshold: float
    projected: bool
    rehint: bool


@dataclass(frozen=True, slots=True)
class Extraction:
    """How a component is extracted from the hinted moments.

    Attributes
    ----------
    method : {"whitening", "cancellation"}
        Algorithm 1 or Algorithm 2 of the paper.
    choose : {"largest", "absolute", "share"}
        With whitening: the component of the largest score ⟨μᵢ, v⟩; of the largest |⟨μᵢ, v⟩|, which is the top singular
        vector of R instead of the top eigenvector; or of the largest share αᵢ⟨μᵢ, v⟩² of the hint.
    normaliser : {"mean", "hinted"}
        What determines a component's weight: (m, A), or (Av, B).
    rule : {"psd", "threshold", "nuclear"}
        With cancellation: how λ is found.
    threshold : float
        With ``rule="threshold"``: the fraction of the k-th singular value of A at which λ stops.
    projected : bool
        With cancellation: cancel inside the signal space. If False, as printed in the paper, in the whole space: for
        Gaussians with ``preset="paper"`` and for `search_moments`.
    rehint : bool
        With whitening: if the lead is small, contract the moments again with the component found as the hint, which
        removes what noise mixes into it of the runner-up. The default of searches for Gaussians and regressions, unless
        ``preset="paper"``.
    """

    method: str = "whitening"
    choose: str = "largest"
    normaliser: str = "mean"
    rule: str = "psd"
    threshold: float = 0.05
    projected: bool = True
    rehint: bool = False

    @classmethod
    def from_options(cls, options: ExtractionOptions, search: Callable[..., Any]) -> Extraction:
        """Read the keyword arguments of a search, and reject those that it does not have."""
        known = [field.name for field in fields(cls)]
        reject_unknown_arguments(search, [name for name in options if name not in known], known)
        return cls(**options)

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            check_choice(name, getattr(self, name), allowed)
        if self.method == "cancellation" and self.choose != "largest":
            raise ArgumentError(
                "choose={choose!r} needs method='whitening': cancellation always finds the largest score.",
                code="options_conflict",
                choose=self.choose,
            )
        if self.method == "whitening" and not self.projected:
            raise ArgumentError(
                "projected=False needs method='cancellation': whitening works in the signal space.",
                code="options_conflict",
            )
        if not 0 < self.threshold < 1:
            raise ArgumentError(
                "{argument} must be strictly between 0 and 1, got {value!r}.",
                argument=Option("threshold"),
                value=self.threshold,
            )

    @property
    def cancellation(self) -> CancellationRule:
        """The rule for λ."""
        return CancellationRule(self.rule, self.threshold)


def extract(hinted: Hinted, frame: Frame, options: Extraction) -> Candidates:
    """Recover the component that the hint means, together with the others."""
    if not options.projected:
        raise ArgumentError(
            "projected=False needs moments outside the signal space, which only GaussianSearch(preset='paper') and "
            "search_moments have.",
            code="options_conflict",
        )
    if options.method == "cancellation":
        return extract_by_cancellation(hinted, frame, how=options.cancellation, normaliser=options.normaliser)
    return extract_by_whitening(hinted, choose=options.choose, normaliser=options.normaliser)


def extract_by_whitening(hinted: Hinted, *, choose: str = "largest", normaliser: str = "mean") -> Candidates:
    """Recover all components of a hinted frame, the one that the hint means first.

    Parameters
    ----------
    hinted : Hinted
        R = W'BW, W'm and the hint in the frame.
    choose : {"largest", "absolute", "share"}
        The component of the largest score ⟨μᵢ, v⟩, as in the paper; of the largest |⟨μᵢ, v⟩|, as in its remark and in
        the authors' programs; or the one that accounts for the largest share αᵢ⟨μᵢ, v⟩² of the hint.
    normaliser : {"mean", "hinted"}
        What tells √αᵢ from the direction: m, or m' = Av with B.

    Notes
    -----
    The vectors uᵢ = √αᵢ W'μᵢ are orthonormal and are the eigenvectors of R, with eigenvalues ⟨μᵢ, v⟩ (Lemma 2). The
    overlap ⟨uᵢ, W'm⟩ is √αᵢ up to the sign of uᵢ; so is ⟨uᵢ, W'Av⟩ / ⟨μᵢ, v⟩.
    """
    scores, U = np.linalg.eigh((hinted.matrix + hinted.matrix.T) / 2)
    overlaps = _overlaps(hinted, U, scores, normaliser)
    weights = overlaps**2
    preference = prefer(scores, weights, choose)
    order = np.argsort(-preference, kind="stable")
    refuse_no_mass(float(weights[order[0]]), float(weights.sum()))
    safe = np.where(overlaps == 0, np.inf, overlaps)
    return Candidates((U / safe)[:, order], weights[order], scores[order], preference[order])


def _overlaps(hinted: Hinted, U: Array, scores: Array, normaliser: str) -> Array:
    """Return √αᵢ of each direction, up to its sign, (k,)."""
    if normaliser == "mean":
        return np.asarray(U.T @ hinted.mean)
    return np.asarray((U.T @ hinted.hint) / np.where(scores == 0, np.inf, scores))


def prefer(scores: Array, weights: Array, choose: str) -> Array:
    """Return what components are sorted by: scores, their absolute values, or signed roots √αᵢ⟨μᵢ, v⟩ of shares."""
    if choose == "share":
        return np.asarray(np.sqrt(weights) * scores)
    return np.abs(scores) if choose == "absolute" else scores


class Extracted(NamedTuple):
    """Candidates, and the direction of the frame that the moments were contracted with again, if they were."""

    candidates: Candidates
    rehint: Array | None = None


def extract_with_rehint(
    contract: Callable[[Array], Hinted], hinted: Hinted, frame: Frame, options: Extraction
) -> Extracted:
    """Recover the component that the hint means; if its lead is small, use it as the hint and recover it again.

    Parameters
    ----------
    contract : callable
        From a hint in the frame to the hinted moments.
    hinted : Hinted
        The moments, contracted with the user's hint.
    frame : Frame
    options : Extraction

    Returns
    -------
    Extracted
        Candidates with their scores under the user's hint.

    Notes
    -----
    Noise mixes eigenvectors whose eigenvalues are close. The directions uᵢ are orthonormal, so under the hint u₁ the
    first component scores 1/√α₁ and all others 0: the lead of the user's hint no longer matters. It still decides which
    of the components is meant.
    """
    candidates = extract(hinted, frame, options)
    is_usual = options.rehint and (options.method, options.normaliser) == ("whitening", "mean")
    if not is_usual or len(candidates.scores) < 2 or candidates.separation(0) >= DOUBTFUL_SEPARATION:
        return Extracted(candidates)
    R = (hinted.matrix + hinted.matrix.T) / 2
    first = _contract_again(contract, candidates.points[:, 0])
    rest = _complement_eigenvectors(R, first)
    is_negative = options.choose == "absolute" and abs(rest[:, -1] @ R @ rest[:, -1]) > abs(rest[:, 0] @ R @ rest[:, 0])
    second = _contract_again(contract, rest[:, -1 if is_negative else 0])
    found = [candidates_along(hinted, u, options.choose) for u in (first, second)]
    best = int(found[1].preference[0] > found[0].preference[0])
    return Extracted(found[best], (first, second)[best])


def candidates_along(hinted: Hinted, direction: Array, choose: str, normaliser: str = "mean") -> Candidates:
    """Return a component of a known direction as the first candidate, with the scores of all under a hint.

    Parameters
    ----------
    hinted : Hinted
        The moments, contracted with the user's hint.
    direction : array of shape (k,)
        √α W'μ of the component, up to its length.
    choose : {"largest", "absolute", "share"}
        What the others are sorted by.
    normaliser : {"mean", "hinted"}
        What determines their weights.

    Returns
    -------
    Candidates
    """
    R, u = (hinted.matrix + hinted.matrix.T) / 2, direction / np.linalg.norm(direction)
    U = np.column_stack([u, _complement_eigenvectors(R, u)])
    scores = np.einsum("ai,ab,bi->i", U, R, U)
    overlaps = _overlaps(hinted, U, scores, normaliser)
    weights = overlaps**2
    preference = prefer(scores, weights, choose)
    order = np.append(0, 1 + np.argsort(-preference[1:], kind="stable"))
    refuse_no_mass(float(weights[0]), float(weights.sum()))
    points = U / np.where(overlaps == 0, np.inf, overlaps)
    return Candidates(points[:, order], weights[order], scores[order], preference[order])


def _contract_again(contract: Callable[[Array], Hinted], direction: Array) -> Array:
    """Return the unit eigenvector nearest to a direction under the hint of this direction, (k,)."""
    u = direction / np.linalg.norm(direction)
    matrix = contract(u).matrix
    _, U = np.linalg.eigh((matrix + matrix.T) / 2)
    overlaps = u @ U
    nearest = int(np.argmax(np.abs(overlaps)))
    return np.asarray(np.sign(overlaps[nearest]) * U[:, nearest])


def _complement_eigenvectors(R: Array, u: Array) -> Array:
    """Return the eigenvectors of R in the complement of u, (k, k - 1), by falling eigenvalue."""
    complement = np.linalg.svd(u[:, None])[0][:, 1:]
    return np.asarray(complement @ np.linalg.eigh(complement.T @ R @ complement)[1][:, ::-1])


def extract_by_cancellation(
    hinted: Hinted, frame: Frame, *, how: CancellationRule | None = None, normaliser: str = "mean"
) -> Candidates:
    """Recover the component by cancellation inside the signal space, and the other candidates by whitening.

    Notes
    -----
    With ``rule="psd"`` this is whitening in another guise: the null vector of A - λB is W u₁. Where every score is
    negative the search goes over λ < 0 and finds the component of the most negative score, that is, of the hint -v.
    """
    root = np.sqrt(frame.values)
    A, B = np.diag(frame.values), hinted.matrix * np.outer(root, root)
    rate, signed = find_signed_rate(hinted, frame, how or CancellationRule())
    rest = top_singular_vectors(A - rate * B, frame.n_components - 1)
    mean, second = (root * hinted.mean, A) if normaliser == "mean" else (root * hinted.hint, B)
    missing = find_missing_component(rest, mean, second)
    point = missing.center / root
    return _candidates_with_answer(signed, point, missing.weight(normaliser, rate), normaliser, float(np.sign(rate)))


class Unprojected(NamedTuple):
    """Candidates in the frame, and the part of the first one's center that lies outside the signal space."""

    candidates: Candidates
    outside: Array  # (d,)


def cancel_without_projection(moments: Moments, frame: Frame, options: Extraction) -> Unprojected:
    """Algorithm 2 as printed: λ from the signal space, then the singular vectors of the whole A - λB."""
    hinted, normaliser = hint_in_frame(moments, frame), options.normaliser
    rate, signed = find_signed_rate(hinted, frame, options.cancellation)
    A, B = as_operator(moments.second), as_operator(moments.hinted)
    Z = A - rate * B
    # Singular vectors of a symmetric Z are the eigenvectors of Z², so that no d x d array is needed.
    rest = top_eigenpairs(Z @ Z, frame.n_components - 1).vectors
    mean, second = (moments.mean, A) if moments.hint is None or normaliser == "mean" else (A @ moments.hint, B)
    missing = find_missing_component(rest, mean, second)
    inside = frame.whiten(missing.center[None])[0]
    found = _candidates_with_answer(signed, inside, missing.weight(normaliser, rate), normaliser, float(np.sign(rate)))
    return Unprojected(found, missing.center - frame.unwhiten(inside))


def hint_in_frame(moments: Moments, frame: Frame) -> Hinted:
    """Return R = W'BW, W'm and W'Av."""
    W = frame.basis / np.sqrt(frame.values)
    hint = np.zeros(frame.n_components) if moments.hint is None else frame.project_hint(moments.hint)
    return Hinted(W.T @ np.asarray(moments.hinted @ W), W.T @ moments.mean, hint)


def _candidates_with_answer(signed: Hinted, point: Array, weight: float, normaliser: str, sign: float) -> Candidates:
    """Return the component that cancellation found as the first candidate.

    It scores what its own direction does, so that a λ that misses the component shows in the separation.
    """
    refuse_no_mass(weight, float(signed.mean @ signed.mean))
    found = candidates_along(signed, point, "largest", normaliser)
    points, weights = found.points.copy(), found.weights.copy()
    points[:, 0], weights[0] = point, weight
    return replace(found, points=points, weights=weights, scores=sign * found.scores)
