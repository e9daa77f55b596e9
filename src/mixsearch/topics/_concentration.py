"""The sum of the Dirichlet parameters, from the moments themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.jackknife import jackknife
from mixsearch.topics._moments import TopicFamily

# The sum with which moments are fitted before it is estimated; any will do.
FIRST_ALPHA0 = 1.0
# Contractions to compare: more of them cost one pass each and hardly lower the error.
_N_HINTS = 6
# The range of sums that is searched, and the number of steps before the best of them is refined.
_RANGE, _N_STEPS = (1e-2, 1e2), 25
# Eigenvalues of a second moment that a wrong sum made negative are raised to this fraction of the largest.
_MIN_VALUE = 1e-12


class Concentration(NamedTuple):
    """The sum of the Dirichlet parameters and its standard error."""

    alpha0: float
    stderr: float


class _RawMoments(NamedTuple):
    """Averages over distinct words of a document in the frame, independent of alpha0."""

    mean: Array  # E[x1], (k,)
    pairs: Array  # E[x1x2'], (k, k)
    triples: list[Array]  # E[⟨x3, v⟩x1x2'] for each hint, (k, k)
    hints: Array  # one in each row, (q, k)


def estimate_alpha0(family: TopicFamily) -> Concentration:
    """Estimate the sum of the Dirichlet parameters.

    Parameters
    ----------
    family : TopicFamily
        Moments of different words, fitted with any sum.

    Returns
    -------
    Concentration

    Notes
    -----
    Averages over pairs and triples of words become Σ αᵢμᵢμᵢ' and Σ αᵢ⟨μᵢ, v⟩μᵢμᵢ' by terms that depend on α₀. With the
    right one, and only then, all whitened contractions R(v) have the same eigenvectors: they commute. So α₀ is where
    the commutators of a few contractions are smallest. Pairs alone do not determine it: m'A⁺m = α₀ for every α₀.
    """
    k = family.n_components
    if k == 1:
        return Concentration(family.alpha0, np.inf)
    hints = np.linalg.qr(np.random.default_rng(0).standard_normal((k, k)))[0].T[:_N_HINTS]
    matrices = [family.hinted(hint).matrix for hint in hints]
    found = _minimize(_to_raw(np.eye(k), family.mean, matrices, hints, family.alpha0))
    replicates = [family.leave_one_out(hint) for hint in hints]
    logs = [
        np.log(_minimize(_to_raw(second, mean, [each.hinted[group] for each in replicates], hints, family.alpha0)))
        for group, (second, mean) in enumerate(zip(replicates[0].second, replicates[0].mean, strict=True))
    ]
    return Concentration(found, found * float(jackknife(np.array(logs))))


def _to_raw(second: Array, mean: Array, matrices: list[Array], hints: Array, alpha0: float) -> _RawMoments:
    """Undo what α₀ adds to averages over words."""
    pairs = (second + np.outer(mean, mean)) / (alpha0 * (alpha0 + 1))
    triples = [
        (matrix - _terms_without_triples(mean, pairs, hint, alpha0)) * 2 / (alpha0 * (alpha0 + 1) * (alpha0 + 2))
        for matrix, hint in zip(matrices, hints, strict=True)
    ]
    return _RawMoments(mean / alpha0, pairs, triples, hints)


def _terms_without_triples(mean: Array, pairs: Array, hint: Array, alpha0: float) -> Array:
    """Return ⟨m, v⟩mm' - α₀(α₀+1)/2 (⟨m, v⟩E[x1x2'] + qm' + mq') with q = E[⟨x3, v⟩x1], (k, k)."""
    score, crossed = float(mean @ hint), np.outer(pairs @ hint, mean)
    return np.asarray(score * np.outer(mean, mean) - alpha0 * (alpha0 + 1) / 2 * (score * pairs + crossed + crossed.T))


def _minimize(raw: _RawMoments) -> float:
    """Return the α₀ with the smallest commutators."""
    from scipy.optimize import minimize_scalar  # slow to import, and needed by few fits

    def evaluate(log: float) -> float:
        return float(np.log(_commutators(raw, float(np.exp(log)))))

    low, high = _RANGE
    steps = np.geomspace(low, high, _N_STEPS)
    best = int(np.argmin([evaluate(step) for step in np.log(steps)]))
    bounds = (float(np.log(steps[max(best - 1, 0)])), float(np.log(steps[min(best + 1, _N_STEPS - 1)])))
    return float(np.exp(minimize_scalar(evaluate, bounds=bounds, method="bounded").x))


def _commutators(raw: _RawMoments, alpha0: float) -> float:
    """Return the squared size of all commutators, relative to that of the products."""
    mean = alpha0 * raw.mean
    values, vectors = np.linalg.eigh(alpha0 * (alpha0 + 1) * raw.pairs - np.outer(mean, mean))
    root = vectors / np.sqrt(np.maximum(values, _MIN_VALUE * values[-1]))
    scale = alpha0 * (alpha0 + 1) * (alpha0 + 2) / 2
    whitened = [
        root.T @ (scale * triple + _terms_without_triples(mean, raw.pairs, hint, alpha0)) @ root
        for triple, hint in zip(raw.triples, raw.hints, strict=True)
    ]
    products = [one @ other for index, one in enumerate(whitened) for other in whitened[:index]]
    size = sum(float(np.sum(product**2)) for product in products)
    return sum(float(np.sum((product - product.T) ** 2)) for product in products) / size
