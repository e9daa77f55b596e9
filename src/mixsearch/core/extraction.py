"""Hinted moments -> component: whitening and cancellation, Algorithms 1 and 2 of the paper. Knows no family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.core.component import Candidates
from mixsearch.core.eigen import as_operator, top_eigenpairs
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Moments
from mixsearch.core.separation import DOUBTFUL_SEPARATION
from mixsearch.core.validation import check_choice, reject_unknown_arguments
from mixsearch.errors import ArgumentError, HintError, NoMassError, Option

# The weight of λ in the nuclear rule, in units of the trace of B. Every value below 1 finds a component that makes up
# enough of the trace, and the nearer to 1 the less is enough: (1 - value) / 2.
NUCLEAR_PENALTY = 1 - 1e-6
_CHOICES = {
    "method": ("whitening", "cancellation"),
    "choose": ("largest", "absolute", "share"),
    "normaliser": ("mean", "hinted"),
    "rule": ("psd", "threshold", "nuclear"),
}


@dataclass(frozen=True, slots=True)
class CancellationRule:
    """How λ is found: A - λB loses the component at λ = 1 / ⟨μ, v⟩.

    Attributes
    ----------
    rule : {"psd", "threshold", "nuclear"}
        The largest λ that keeps A - λB positive semi-definite on the signal space, exactly; the smallest λ at which its
        k-th singular value falls under a threshold (what the paper ran on Gaussians); or the minimum of
        |A - λB|_* + λ (what it ran on topics), with the hint scaled so that the trace of B is just above 1.
    threshold : float
        For that rule, as a part of the k-th singular value of A.
    """

    rule: str = "psd"
    threshold: float = 0.05


def find_signed_rate(hinted: Hinted, frame: Frame, how: CancellationRule) -> tuple[float, Hinted]:
    """λ, and the hint with the sign under which the component scores highest: its own, or the opposite one."""
    root = np.sqrt(frame.values)
    scores = np.linalg.eigvalsh(hinted.matrix)
    if not scores.any():
        raise HintError(
            "Every component scores zero under the hint, so none cancels. Give another hint.", code="hint_scores_zero"
        )
    sign = 1.0 if scores[-1] > 0 else -1.0
    signed = Hinted(sign * hinted.matrix, hinted.mean, sign * hinted.hint)
    return sign * find_rate(np.diag(frame.values), signed.matrix * np.outer(root, root), signed.matrix, how), signed


def find_rate(A: Array, B: Array, R: Array, how: CancellationRule) -> float:
    """The positive λ of the rule, where at least one score is positive."""
    scores, U = np.linalg.eigh((R + R.T) / 2)
    exact = 1 / float(scores[-1])
    if how.rule == "psd":
        return exact
    if how.rule == "threshold":
        from scipy.optimize import brentq  # a rule that few searches use, and an import longer than a search

        target = how.threshold * A.diagonal().min()
        # Below the exact λ the matrix is positive definite, and its smallest eigenvalue is concave: one crossing.
        part = brentq(lambda part: np.linalg.eigvalsh(A - part * exact * B)[0] - target, 0.0, 1.0)
        return exact * float(part)
    return _nuclear_rate(A, B, exact, U[:, -1] / np.sqrt(A.diagonal()))


def _nuclear_rate(A: Array, B: Array, exact: float, null: Array) -> float:
    """The minimum of |A - λB|_* + τλ, a convex function of λ.

    Up to the exact λ it falls by tr B - τ. There one eigenvalue changes its sign, and the slope jumps by 2 z'Bz, with z
    the unit null vector of A - λB: a kink, and the minimum, if the component makes up enough of the trace.
    """
    trace = float(np.trace(B))
    if trace <= 0:
        raise HintError(
            "rule='nuclear' needs a hint with positive scores: the trace of B is {trace:.3g}, but must be positive. "
            "Use "
            "rule='psd', or the hint -v.",
            code="trace_not_positive",
            trace=trace,
        )
    penalty, z = NUCLEAR_PENALTY * trace, null / np.linalg.norm(null)
    if penalty - trace + 2 * float(z @ B @ z) >= 0:
        return exact
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda rate: np.abs(np.linalg.eigvalsh(A - rate * B)).sum() + penalty * rate,
        bounds=(exact, 4 * exact),
        method="bounded",
        options={"xatol": 1e-12 * exact},
    )
    return float(found.x)


def top_singular_vectors(Z: Array, n: int) -> Array:
    """The first n singular vectors of a symmetric matrix, (k, n)."""
    values, vectors = np.linalg.eigh(Z)
    return np.asarray(vectors[:, np.argsort(-np.abs(values), kind="stable")[:n]])


@dataclass(frozen=True, slots=True)
class MissingComponent:
    """A component as coefficients on an orthonormal basis."""

    basis: Array  # (d, k)
    coefficients: Array  # (k,)
    mass: float  # α from (m, A); α⟨μ, v⟩ from (Av, B)

    @property
    def center(self) -> Array:
        """The center, (d,)."""
        return np.asarray(self.basis @ self.coefficients)

    def weight(self, normaliser: str, rate: float) -> float:
        """Return α."""
        return self.mass if normaliser == "mean" else self.mass * rate


def find_missing_component(rest: Array, mean: Array, second: Matrix) -> MissingComponent:
    """Steps 5 to 9: the component that `rest` lacks, from (m, A) or from (Av, B)."""
    residual = mean - rest @ (rest.T @ mean)
    length = float(np.linalg.norm(residual))
    if length == 0:
        refuse_no_mass(0.0, 1.0)
    direction = residual / length
    basis = np.column_stack([direction, rest])
    overlaps = basis.T @ np.asarray(second @ direction)
    coefficients = overlaps / length
    return MissingComponent(basis, coefficients, float(overlaps[0] / coefficients[0] ** 2))


def refuse_no_mass(weight: float, total: float) -> None:
    """A component without weight has no center that the data could tell."""
    if not weight > 1e-14 * total:
        raise NoMassError(
            "The component found has weight {weight:.3g}, so its center is undetermined: the hint points away from "
            "every component. Try the opposite hint, -v, or fewer components.",
            weight=weight,
        )


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
