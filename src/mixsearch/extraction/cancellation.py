"""Algorithm 2: take off B until one component cancels out of A; what is missing is the component."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from mixsearch.errors import HintError
from mixsearch.extraction.whitening import extract_by_whitening, refuse_no_mass
from mixsearch.linalg import as_operator, top_eigenpairs
from mixsearch.types import Array, Candidates, Frame, Hinted, Matrix, Moments


@dataclass(frozen=True, slots=True)
class CancellationRule:
    """How λ is found: A - λB loses the component at λ = 1 / ⟨μ, v⟩.

    Attributes
    ----------
    rule : {"psd", "threshold", "nuclear"}
        The largest λ that keeps A - λB positive semi-definite on the signal space, exactly; the smallest λ at which its
        k-th singular value falls under a threshold (what the paper ran on Gaussians); or the minimum of
        |A - λB|_* + λ (what it ran on topics), with the hint scaled so that B has trace 2.
    threshold : float
        For that rule, as a part of the k-th singular value of A.
    """

    rule: str = "psd"
    threshold: float = 0.05


def extract_by_cancellation(
    hinted: Hinted, frame: Frame, *, how: CancellationRule | None = None, normaliser: str = "mean"
) -> Candidates:
    """Recover the component by cancellation inside the signal space; the others are those of whitening.

    Notes
    -----
    With ``rule="psd"`` this is whitening in another guise: the null vector of A - λB is W u₁. Where every score is
    negative the search goes over λ < 0 and finds the component of the most negative score, that is, of the hint -v.
    """
    root = np.sqrt(frame.values)
    A, B = np.diag(frame.values), hinted.matrix * np.outer(root, root)
    rate, signed = _signed_rate(hinted, frame, how or CancellationRule())
    rest = _top_singular(A - rate * B, frame.n_components - 1)
    mean, second = (root * hinted.mean, A) if normaliser == "mean" else (root * hinted.hint, B)
    basis, coefficients, mass = _missing_component(rest, mean, second)
    weight = mass if normaliser == "mean" else mass * rate
    refuse_no_mass(weight, float(hinted.mean @ hinted.mean))
    others = extract_by_whitening(signed, normaliser=normaliser)
    points, weights = others.points.copy(), others.weights.copy()
    points[:, 0], weights[0] = (basis @ coefficients) / root, weight
    return replace(others, points=points, weights=weights, scores=np.sign(rate) * others.scores)


def _signed_rate(hinted: Hinted, frame: Frame, how: CancellationRule) -> tuple[float, Hinted]:
    """λ, and the hint with the sign under which the component scores highest: its own, or the opposite one."""
    root = np.sqrt(frame.values)
    scores = np.linalg.eigvalsh(hinted.matrix)
    if not scores.any():
        raise HintError("Every component scores zero under the hint, so that none cancels. Give another hint.")
    sign = 1.0 if scores[-1] > 0 else -1.0
    signed = Hinted(sign * hinted.matrix, hinted.mean, sign * hinted.hint)
    return sign * _rate(np.diag(frame.values), signed.matrix * np.outer(root, root), signed.matrix, how), signed


def _rate(A: Array, B: Array, R: Array, how: CancellationRule) -> float:
    """The positive λ of the rule, where at least one score is positive."""
    exact = 1 / float(np.linalg.eigvalsh(R)[-1])
    if how.rule == "psd":
        return exact
    if how.rule == "threshold":
        target = how.threshold * A.diagonal().min()
        # Below the exact λ the matrix is positive definite, and its smallest eigenvalue is concave: one crossing.
        return float(brentq(lambda rate: np.linalg.eigvalsh(A - rate * B)[0] - target, 0.0, exact))
    unit = float(np.trace(B)) / 2
    if unit <= 0:
        raise HintError(
            f"rule='nuclear' needs a hint that most components answer: the trace of B is {2 * unit:.3g}, and must be "
            "positive. Use rule='psd', or the hint -v."
        )
    found = minimize_scalar(
        lambda rate: np.abs(np.linalg.eigvalsh(A - rate * B)).sum() + unit * rate,
        bounds=(0.0, 4 * exact),
        method="bounded",
        options={"xatol": 1e-12 * exact},
    )
    return float(found.x)


def _top_singular(Z: Array, n: int) -> Array:
    """The first n singular vectors of a symmetric matrix, (k, n)."""
    values, vectors = np.linalg.eigh(Z)
    return np.asarray(vectors[:, np.argsort(-np.abs(values), kind="stable")[:n]])


def _missing_component(rest: Array, mean: Array, second: Matrix) -> tuple[Array, Array, float]:
    """Steps 5 to 9: the component that `rest` lacks, as coefficients on a basis, and its weight.

    From (m, A) the weight is α; from (Av, B) it is α⟨μ, v⟩.
    """
    beside = mean - rest @ (rest.T @ mean)
    length = float(np.linalg.norm(beside))
    if length == 0:
        refuse_no_mass(0.0, 1.0)
    direction = beside / length
    basis = np.column_stack([direction, rest])
    overlaps = basis.T @ np.asarray(second @ direction)
    coefficients = overlaps / length
    return basis, coefficients, float(overlaps[0] / coefficients[0] ** 2)


def cancel_without_projection(
    moments: Moments, hinted: Hinted, frame: Frame, *, how: CancellationRule | None = None, normaliser: str = "mean"
) -> tuple[Frame, Candidates]:
    """Algorithm 2 as printed: λ from the signal space, then the singular vectors of the whole A - λB.

    The component need not lie in the signal space; it comes with a frame of its own, and with no alternatives.
    """
    rate, signed = _signed_rate(hinted, frame, how or CancellationRule())
    A, B = as_operator(moments.second), as_operator(moments.hinted)
    Z = A - rate * B
    # Singular vectors of a symmetric Z are the eigenvectors of Z², so that no d x d array is needed.
    rest = top_eigenpairs(Z @ Z, frame.n_components - 1).vectors
    mean, second = (moments.mean, A) if moments.hint is None or normaliser == "mean" else (A @ moments.hint, B)
    basis, coefficients, mass = _missing_component(rest, mean, second)
    weight = mass if normaliser == "mean" else mass * rate
    refuse_no_mass(weight, float(hinted.mean @ hinted.mean))
    others = extract_by_whitening(signed, normaliser=normaliser)
    alone = Frame(basis, np.ones(len(coefficients)))
    weights = np.concatenate([[weight], others.weights[1:]])
    return alone, replace(others, points=coefficients[:, None], weights=weights, scores=np.sign(rate) * others.scores)
