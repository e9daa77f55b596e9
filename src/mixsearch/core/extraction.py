"""Hinted moments -> component: whitening and cancellation, Algorithms 1 and 2 of the paper. Knows no family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Moments
from mixsearch.core.validation import check_choice, reject_unknown_arguments
from mixsearch.errors import ArgumentError, HintError, NoMassError, Option

# Below this lead over the runner-up, the runner-up is worth a look.
DOUBTFUL_SEPARATION = 1.5

_CHOICES = {
    "method": ("whitening", "cancellation"),
    "choose": ("largest", "absolute", "share"),
    "normaliser": ("mean", "hinted"),
    "rule": ("psd", "threshold"),
}


@dataclass(frozen=True, slots=True)
class Candidates:
    """All components as one hint orders them, the preferred one first."""

    points: Array  # columns W'μᵢ, (k, q); q = k unless a method finds one component only
    weights: Array  # αᵢ, (k,)
    scores: Array  # ⟨μᵢ, v⟩, (k,)
    preference: Array  # what they are sorted by, (k,), falling

    @property
    def shares(self) -> Array:
        """αᵢ⟨μᵢ, v⟩² as fractions of their sum v'Av, (k,)."""
        parts = self.weights * self.scores**2
        total = parts.sum()
        return np.asarray(parts / total if total > 0 else parts)

    def separation(self, index: int) -> float:
        """Return the factor by which a candidate leads the best other one; below 1 it falls behind.

        A hint cannot separate two components of the same score, whatever their shares: the lead is never more than the
        factor to the nearest other score.
        """
        if len(self.preference) == 1:
            return float("inf")
        lead = _ratio(float(self.preference[index]), float(self.preference[0 if index else 1]))
        mine, others = float(self.scores[index]), np.delete(self.scores, index)
        below, above = others[others <= mine].max(initial=-np.inf), others[others >= mine].min(initial=np.inf)
        return min(lead, _ratio(mine, float(below)), _ratio(float(above), mine))


def _ratio(mine: float, other: float) -> float:
    """Return the factor between two preferences: above 1 if mine is larger, even if both are negative."""
    if mine == other:
        return 1.0
    if mine > 0 and other > 0:
        return mine / other
    if mine < 0 and other < 0:
        return other / mine
    return float("inf") if mine > other else 0.0


class ExtractionOptions(TypedDict, total=False):
    """The keyword arguments of `Extraction`, as every `search` takes them."""

    method: Literal["whitening", "cancellation"]
    choose: Literal["largest", "absolute", "share"]
    normaliser: Literal["mean", "hinted"]
    rule: Literal["psd", "threshold"]
    threshold: float
    rehint: bool


@dataclass(frozen=True, slots=True)
class Extraction:
    """How a component is extracted from the hinted moments.

    Attributes
    ----------
    method : {"whitening", "cancellation"}
        Algorithm 1 or Algorithm 2 of the paper, both in the signal space; `mixsearch.paper` has Algorithm 2 as printed.
    choose : {"largest", "absolute", "share"}
        With whitening: the component of the largest score ⟨μᵢ, v⟩; of the largest |⟨μᵢ, v⟩|, which is the top singular
        vector of R instead of the top eigenvector; or of the largest share αᵢ⟨μᵢ, v⟩² of the hint.
    normaliser : {"mean", "hinted"}
        What determines a component's weight: (m, A), or (Av, B).
    rule : {"psd", "threshold"}
        With cancellation: λ is the largest one that leaves A - λB positive semi-definite on the signal space, exactly,
        or the smallest one at which its k-th singular value falls under a threshold, as the paper ran on Gaussians.
    threshold : float
        With ``rule="threshold"``: the fraction of the k-th singular value of A at which λ stops.
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
        if not 0 < self.threshold < 1:
            raise ArgumentError(
                "{argument} must be strictly between 0 and 1, got {value!r}.",
                argument=Option("threshold"),
                value=self.threshold,
            )


def extract(hinted: Hinted, frame: Frame, options: Extraction) -> Candidates:
    """Recover the component that the hint means, together with the others."""
    if options.method == "cancellation":
        return extract_by_cancellation(hinted, frame, options)
    return extract_by_whitening(hinted, choose=options.choose, normaliser=options.normaliser)


def extract_by_whitening(hinted: Hinted, *, choose: str = "largest", normaliser: str = "mean") -> Candidates:
    """Recover all components of a hinted frame, the one that the hint means first.

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
    """Return a component of a known direction as the first candidate, with the scores of all under a hint."""
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


def extract_by_cancellation(hinted: Hinted, frame: Frame, options: Extraction) -> Candidates:
    """Recover the component by cancellation inside the signal space, and the other candidates by whitening.

    Notes
    -----
    A - λB loses the component at λ = 1 / ⟨μ, v⟩. With ``rule="psd"`` this is whitening in another guise: the null
    vector of A - λB is W u₁. Where every score is negative the search goes over λ < 0 and finds the component of the
    most negative score, that is, of the hint -v.
    """
    root, scores = np.sqrt(frame.values), np.linalg.eigvalsh(hinted.matrix)
    if not scores.any():
        raise HintError(
            "Every component scores zero under the hint, so none cancels. Give another hint.", code="hint_scores_zero"
        )
    sign = 1.0 if scores[-1] > 0 else -1.0
    signed = Hinted(sign * hinted.matrix, hinted.mean, sign * hinted.hint)
    A, B = np.diag(frame.values), signed.matrix * np.outer(root, root)
    rate = find_rate(A, B, signed.matrix, options)
    # Steps 5 to 9 of Algorithm 2: the component that the first k - 1 singular vectors of A - λB lack.
    values, vectors = np.linalg.eigh(A - rate * B)
    rest = vectors[:, np.argsort(-np.abs(values), kind="stable")[: frame.n_components - 1]]
    is_mean = options.normaliser == "mean"
    mean, second = (root * hinted.mean, A) if is_mean else (root * signed.hint, B)
    residual = mean - rest @ (rest.T @ mean)
    length = float(np.linalg.norm(residual))
    refuse_no_mass(length, float(np.linalg.norm(mean)))
    direction = residual / length
    basis = np.column_stack([direction, rest])
    overlaps = basis.T @ (second @ direction)
    coefficients = overlaps / length
    mass = float(overlaps[0] / coefficients[0] ** 2)  # α from (m, A); α⟨μ, v⟩ from (Av, B)
    weight = mass if is_mean else mass * rate
    refuse_no_mass(weight, float(hinted.mean @ hinted.mean))
    # It scores what its own direction does, so that a λ that misses the component shows in the separation.
    point = basis @ coefficients / root
    candidates = candidates_along(signed, point, "largest", options.normaliser)
    points, weights = candidates.points.copy(), candidates.weights.copy()
    points[:, 0], weights[0] = point, weight
    return replace(candidates, points=points, weights=weights, scores=sign * candidates.scores)


def find_rate(A: Array, B: Array, R: Array, options: Extraction) -> float:
    """Find the positive λ of the rule, where at least one score is positive."""
    exact = 1 / float(np.linalg.eigvalsh((R + R.T) / 2)[-1])
    if options.rule == "psd":
        return exact
    from scipy.optimize import brentq  # a rule that few searches use, and an import longer than a search

    target = options.threshold * A.diagonal().min()
    # Below the exact λ the matrix is positive definite, and its smallest eigenvalue is concave: one crossing.
    return exact * float(brentq(lambda part: np.linalg.eigvalsh(A - part * exact * B)[0] - target, 0.0, 1.0))


def refuse_no_mass(weight: float, total: float) -> None:
    """Raise for a component without weight, which has no center that the data could tell."""
    if not weight > 1e-14 * total:
        raise NoMassError(
            "The component found has weight {weight:.3g}, so its center is undetermined: the hint points away from "
            "every component. Try the opposite hint, -v, or fewer components.",
            weight=weight,
        )


def hint_in_frame(moments: Moments, frame: Frame) -> Hinted:
    """Return R = W'BW, W'm and W'Av."""
    W = frame.basis / np.sqrt(frame.values)
    hint = np.zeros(frame.n_components) if moments.hint is None else frame.project_hint(moments.hint)
    return Hinted(W.T @ np.asarray(moments.hinted @ W), W.T @ moments.mean, hint)


# Starting bases: the hint's own eigenvectors, and those of this many random contractions.
N_STARTS = 5


# Iterations converge quadratically: after a change this small, only rounding is left.
MAX_ITER, SMALL_CHANGE = 30, 1e-6


def all_components(tensor: Array, mean: Array) -> Candidates:
    """Return rough estimates of all components of a mixture, without a hint."""
    U = _diagonalize(_symmetric(tensor), np.linalg.eigh(np.tensordot(mean, tensor, axes=1))[1])
    overlaps = U.T @ mean
    order = np.argsort(-(overlaps**2), kind="stable")
    overlaps, ones = overlaps[order], np.ones(len(mean))
    points = U[:, order] / np.where(overlaps == 0, np.inf, overlaps)
    return Candidates(points, overlaps**2, scores=ones, preference=ones)


def separate_directions(directions: Array, tensor_within: Callable[[Array], Array]) -> Array:
    """Return the orthonormal directions of components, (k, q), that span the same space as rough ones.

    `tensor_within` maps an orthonormal basis, (k, q), to T in its coordinates, (q, q, q).
    """
    basis = _nearest_orthonormal(directions)
    return np.asarray(basis @ _diagonalize(_symmetric(tensor_within(basis)), np.eye(basis.shape[1])))


def _symmetric(T: Array) -> Array:
    """Return the symmetric part of a tensor that noise made asymmetric, (q, q, q)."""
    return np.asarray((T + T.transpose(1, 2, 0) + T.transpose(2, 0, 1)) / 3)


def _diagonalize(tensor: Array, first: Array) -> Array:
    """Return the orthonormal columns in which a symmetric tensor is as diagonal as possible, (q, q).

    Notes
    -----
    Candidates of nearly equal score are arbitrary mixtures of each other. R(c) = Σ ⟨W'μᵢ, c⟩uᵢuᵢ' contracts one tensor
    T = Σ αᵢ^(-1/2) uᵢ⊗uᵢ⊗uᵢ, whatever the hint. Its components are the orthonormal fixed points of
    u -> T(u, u) / |T(u, u)|. Power iterations on all of them at once, each followed by the nearest orthonormal basis,
    converge quadratically. Of several starts the one with the largest Σ T(u, u, u)² is kept: that sum is largest if T
    is diagonal.
    """
    weights = np.random.default_rng(0).standard_normal((N_STARTS, len(tensor)))
    starts = np.stack([first, *np.linalg.eigh(np.tensordot(weights, tensor, axes=1))[1]])
    bases = _power_iterations(tensor, _nearest_orthonormal(starts))
    diagonals = np.sum(bases * _image(tensor, bases), axis=1)
    return np.asarray(bases[np.argmax(np.sum(diagonals**2, axis=1))])


def _power_iterations(tensor: Array, U: Array) -> Array:
    """Iterate from several bases at once, (s, q, q)."""
    for _ in range(MAX_ITER):
        before, U = U, _nearest_orthonormal(_image(tensor, U))
        if np.abs(U - before).max() < SMALL_CHANGE:
            break
    return U


def _image(tensor: Array, U: Array) -> Array:
    """Return T(u, u) for each column u of each basis, (s, q, q)."""
    return np.asarray(np.einsum("sabj,sbj->saj", tensor @ U[:, None], U))


def _nearest_orthonormal(U: Array) -> Array:
    left, _, right = np.linalg.svd(U, full_matrices=False)
    return np.asarray(left @ right)
