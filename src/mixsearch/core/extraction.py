"""Hinted moments -> component by whitening, Algorithm 1 of the paper, and all components from the whole tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.moments import Hinted, symmetrize
from mixsearch.core.tuning import TUNING
from mixsearch.errors import NoMassError


@dataclass(frozen=True, slots=True)
class Candidates:
    """All components as one hint orders them, the preferred one first."""

    points: Array  # columns W'μᵢ, (k, k)
    weights: Array  # αᵢ, (k,)
    scores: Array  # ⟨μᵢ, v⟩, (k,)
    preference: Array  # what they are sorted by, (k,), falling

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


def extract_by_whitening(hinted: Hinted, choose: str = "largest") -> Candidates:
    """Recover all components of a hinted frame, the one that the hint means first.

    By `choose`, that is the one of the largest score ⟨μᵢ, v⟩, or of the largest share αᵢ⟨μᵢ, v⟩².

    Notes
    -----
    The vectors uᵢ = √αᵢ W'μᵢ are orthonormal and are the eigenvectors of R, with eigenvalues ⟨μᵢ, v⟩ (Lemma 2). The
    overlap ⟨uᵢ, W'm⟩ is √αᵢ up to the sign of uᵢ.
    """
    scores, U = np.linalg.eigh((hinted.matrix + hinted.matrix.T) / 2)
    preference = prefer(scores, (U.T @ hinted.mean) ** 2, choose)
    return _candidates(hinted, U, scores, preference, np.argsort(-preference, kind="stable"))


def _candidates(hinted: Hinted, U: Array, scores: Array, preference: Array, order: Array) -> Candidates:
    """Return components along orthonormal directions, (k, k), in an order."""
    overlaps = U.T @ hinted.mean
    weights = overlaps**2
    weight = float(weights[order[0]])
    if not weight > 1e-14 * float(weights.sum()):
        raise NoMassError(
            "The component found has weight {weight:.3g}, so its center is undetermined: the hint points away from "
            "every component. Try the opposite hint, -v, or fewer components.",
            weight=weight,
        )
    points = U / np.where(overlaps == 0, np.inf, overlaps)
    return Candidates(points[:, order], weights[order], scores[order], preference[order])


def prefer(scores: Array, weights: Array, choose: str) -> Array:
    """Return what components are sorted by: scores, or signed roots √αᵢ⟨μᵢ, v⟩ of shares."""
    return np.asarray(np.sqrt(weights) * scores) if choose == "share" else scores


def extract_with_rehint(contract: Callable[[Array], Hinted], hinted: Hinted) -> tuple[Candidates, Array | None]:
    """Recover the component that the hint means; if its lead is small, use it as the hint and recover it again.

    Returns all components, and the hint of the second contraction, (k,), if there was one.

    Notes
    -----
    Noise mixes eigenvectors whose eigenvalues are close. The directions uᵢ are orthonormal, so under the hint u₁ the
    first component scores 1/√α₁ and all others 0: the lead of the user's hint no longer matters. It still decides which
    of the components is meant.
    """
    candidates = extract_by_whitening(hinted)
    if len(candidates.scores) < 2 or candidates.separation(0) >= TUNING.clear_separation:
        return candidates, None
    R = (hinted.matrix + hinted.matrix.T) / 2
    first = _contract_again(contract, candidates.points[:, 0])
    rest = _complement_eigenvectors(R, first)
    second = _contract_again(contract, rest[:, 0])
    u = max(first, second, key=lambda direction: float(direction @ R @ direction))
    U = np.column_stack([u, _complement_eigenvectors(R, u)])
    scores = np.einsum("ai,ab,bi->i", U, R, U)
    return _candidates(hinted, U, scores, scores, np.append(0, 1 + np.argsort(-scores[1:], kind="stable"))), u


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


# Starting bases: the hint's own eigenvectors, and those of this many random contractions.
N_STARTS = 5


# Iterations converge quadratically: after a change this small, only rounding is left.
MAX_ITER, SMALL_CHANGE = 30, 1e-6


def find_tensor(contract: Callable[[Array], Hinted], n_coordinates: int) -> Array:
    """Contract the third moment with each coordinate of the frame: T with Σ cₐTₐ = R(c), (k, k, k)."""
    return np.stack([contract(unit).matrix for unit in np.eye(n_coordinates)])


def all_components(tensor: Array, mean: Array) -> Candidates:
    """Return rough estimates of all components of a mixture, without a hint."""
    U = _diagonalize(symmetrize(tensor) / 3, np.linalg.eigh(np.tensordot(mean, tensor, axes=1))[1])
    overlaps = U.T @ mean
    order = np.argsort(-(overlaps**2), kind="stable")
    overlaps, ones = overlaps[order], np.ones(len(mean))
    points = U[:, order] / np.where(overlaps == 0, np.inf, overlaps)
    return Candidates(points, overlaps**2, scores=ones, preference=ones)


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
    bases = _nearest_orthonormal(starts)
    for _ in range(MAX_ITER):
        before, bases = bases, _nearest_orthonormal(_image(tensor, bases))
        if np.abs(bases - before).max() < SMALL_CHANGE:
            break
    diagonals = np.sum(bases * _image(tensor, bases), axis=1)
    return np.asarray(bases[np.argmax(np.sum(diagonals**2, axis=1))])


def _image(tensor: Array, U: Array) -> Array:
    """Return T(u, u) for each column u of each basis, (s, q, q)."""
    return np.asarray(np.einsum("sabj,sbj->saj", tensor @ U[:, None], U))


def _nearest_orthonormal(U: Array) -> Array:
    left, _, right = np.linalg.svd(U, full_matrices=False)
    return np.asarray(left @ right)
