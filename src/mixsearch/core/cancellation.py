"""The steps of Algorithm 2 of the paper: λ at which A - λB loses a component, and the component that it lacks then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted
from mixsearch.errors import HintError, NoMassError

# The weight of λ in the nuclear rule, in units of the trace of B. Every value below 1 finds a component that makes up
# enough of the trace, and the nearer to 1 the less is enough: (1 - value) / 2.
NUCLEAR_PENALTY = 1 - 1e-6


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
