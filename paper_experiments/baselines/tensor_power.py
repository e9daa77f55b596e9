"""The tensor power method (TPM) and its short cut from a hint, Fast-TPM, on third moments in the frame of a search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array
from mixsearch.core.extraction import find_tensor
from mixsearch.core.frame import Frame
from mixsearch.core.moments import sum_cubes, symmetrize
from mixsearch.core.rows import row_slices
from mixsearch.core.validation import check_not_orthogonal, hint_from_direction
from mixsearch.gaussian import GaussianSearch
from mixsearch.lda import LdaSearch

NoiseTerm = Literal["whitened", "identity"]


@dataclass(frozen=True, slots=True)
class ThirdMoment:
    """The third moment of a mixture in the frame in which its second moment is the identity."""

    frame: Frame  # frame of the search
    tensor: Array  # (k, k, k): T, symmetric
    mean: Array  # (k,): W'm
    total: float = 1.0  # Σ αᵢ: 1, or α₀ for topics

    @property
    def n_components(self) -> int:
        """The number of components k."""
        return len(self.tensor)


@singledispatch
def compute_third_moment(search: GaussianSearch | LdaSearch, *, noise_term: NoiseTerm = "whitened") -> ThirdMoment:
    """Compute the third moment of the samples of a fitted search, in its frame."""
    raise TypeError(f"Third moments need a GaussianSearch or an LdaSearch, got {type(search).__name__}.")


@compute_third_moment.register
def _(search: GaussianSearch, *, noise_term: NoiseTerm = "whitened") -> ThirdMoment:
    """Return E[y⊗y⊗y] minus the noise W'W in each pair of the three places, times m~ in the third."""
    check_is_fitted(search)
    model = search._family
    tensor = model.chunks.sum(_sum_cubes) / model.chunks.n_rows
    spread = model.frame.spread if noise_term == "whitened" else np.ones(model.n_components)
    tensor -= symmetrize(np.multiply.outer(np.diag(spread), model.noise_mean))
    return ThirdMoment(model.frame, tensor, model.mean)


@compute_third_moment.register
def _(search: LdaSearch) -> ThirdMoment:
    """Return the moment of three words of a document, different ones unless the search uses plug-in moments."""
    check_is_fitted(search)
    family = search._family
    return ThirdMoment(family.frame, find_tensor(family.hinted, family.n_components), family.mean, total=family.alpha0)


def _sum_cubes(chunk: Any) -> Any:
    """Return Σ y⊗y⊗y."""
    return sum_cubes(chunk.projected, chunk.projected, np.ones(len(chunk.projected)))


# Smaller changes of all coordinates are rounding errors.
MIN_CHANGE = 1e-12
# Size of a chunk of starting points, whose outer products take k² numbers each.
CHUNK_PRODUCTS = 2**20


class PowerPairs(NamedTuple):
    """Eigenpairs of a symmetric tensor."""

    values: Array  # (q,): eigenvalues λ, in the order of discovery
    vectors: Array  # (k, q): eigenvectors, unit columns


def robust_power_iterations(tensor: Array, n_init: int, max_iter: int, rng: np.random.Generator) -> PowerPairs:
    """Find the eigenpairs of a symmetric tensor one after the other: the robust power method."""
    residual, found = tensor, []
    for _ in range(len(tensor)):
        pair = _find_strongest(residual, n_init, max_iter, rng)
        u = pair.vectors[:, 0]
        residual = residual - pair.values * np.multiply.outer(np.outer(u, u), u)
        found.append(pair)
    return PowerPairs(np.concatenate([each.values for each in found]), np.hstack([each.vectors for each in found]))


def _find_strongest(tensor: Array, n_init: int, max_iter: int, rng: np.random.Generator) -> PowerPairs:
    """Return the pair with the largest eigenvalue over all starting points."""
    k = len(tensor)
    best = PowerPairs(np.array([-np.inf]), np.zeros((k, 1)))
    for starts in row_slices(n_init, max(CHUNK_PRODUCTS // k**2, 1)):
        ends = iterate_power(tensor, rng.standard_normal((k, starts.stop - starts.start)), max_iter)
        top = int(np.argmax(ends.values))
        if ends.values[top] > best.values[0]:
            best = PowerPairs(ends.values[[top]], ends.vectors[:, [top]])
    return iterate_power(tensor, best.vectors, max_iter)


def iterate_power(tensor: Array, starts: Array, max_iter: int) -> PowerPairs:
    """Run power iterations from several starting points, (k, q)."""
    U = _normalize(starts, fallback=starts)
    for _ in range(max_iter):
        before, U = U, _normalize(_apply(tensor, U), fallback=U)
        if np.abs(U - before).max() < MIN_CHANGE:
            break
    return PowerPairs(np.sum(U * _apply(tensor, U), axis=0), U)


def _apply(tensor: Array, U: Array) -> Array:
    """Return T(·, u, u) of each column, (k, q)."""
    k = len(tensor)
    return np.asarray(tensor.reshape(k, -1) @ (U[:, None] * U).reshape(k * k, -1))


def _normalize(columns: Array, fallback: Array) -> Array:
    """Scale columns to norm one, (k, q), and replace zero columns by those of the fallback."""
    lengths = np.linalg.norm(columns, axis=0)
    return np.where(lengths > 0, columns / np.where(lengths > 0, lengths, 1.0), fallback)


# Theorem 5.1 needs poly(k) starting points. Each converges to a component, to any of them with probability about 1 / k,
# so that this many times k find all of them.
STARTS_PER_COMPONENT = 10
# Convergence is quadratic, after about log k iterations.
MAX_ITER = 30

Normaliser = Literal["value", "mean"]


class OneComponent(NamedTuple):
    """One component of a mixture."""

    center: Array  # (d,): center
    weight: float  # weight


@dataclass(frozen=True, slots=True)
class Components:
    """All components of a mixture, in the order of discovery."""

    centers: Array  # (k, d): center of each component
    weights: Array  # (k,): estimates need not sum to one. For topics, shares of the corpus

    def find_component(self, hint: ArrayLike) -> OneComponent:
        """Find the component with the largest inner product of center and hint."""
        index = int(np.argmax(self.centers @ hint_from_direction(hint, self.centers.shape[1])))
        return OneComponent(self.centers[index], float(self.weights[index]))


def tensor_power(
    third: ThirdMoment,
    *,
    n_init: int | None = None,
    max_iter: int = MAX_ITER,
    normaliser: Normaliser = "value",
    random_state: int | np.random.RandomState | None = 0,
) -> Components:
    """Recover all components of a mixture from its third moment."""
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    n_starts = STARTS_PER_COMPONENT * third.n_components if n_init is None else n_init
    return _make_components(third, robust_power_iterations(third.tensor, n_starts, max_iter, rng), normaliser)


def fast_tensor_power(
    third: ThirdMoment, hint: ArrayLike, *, max_iter: int = MAX_ITER, normaliser: Normaliser = "value"
) -> OneComponent:
    """Recover one component by power iterations from a hint: the paper's Fast-TPM."""
    v = hint_from_direction(hint, third.frame.basis.shape[0])
    if third.n_components > 1:
        check_not_orthogonal(third.frame, v, scale=float(np.linalg.norm(v)))
    start = third.frame.project_hint(v)
    found = _make_components(third, iterate_power(third.tensor, start[:, None], max_iter), normaliser)
    return OneComponent(found.centers[0], float(found.weights[0]))


def _make_components(third: ThirdMoment, pairs: PowerPairs, normaliser: Normaliser) -> Components:
    """Return centers and weights, from eigenvalues 1/√αᵢ or from overlaps √αᵢ with the mean."""
    roots = third.mean @ pairs.vectors if normaliser == "mean" else _invert(pairs.values)
    centers = third.frame.unwhiten(pairs.vectors * _invert(roots)).T
    return Components(np.ascontiguousarray(centers), roots**2 / third.total)


def _invert(values: Array) -> Array:
    """Return one over each value, and zero for zero: a component without weight has no center."""
    return 1 / np.where(values == 0, np.inf, values)
