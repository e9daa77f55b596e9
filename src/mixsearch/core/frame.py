"""The frame: the signal space of a mixture, scaled so that the second moment becomes the identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.rows import CACHED_ROWS, row_slices
from mixsearch.errors import RankError


@dataclass(frozen=True, slots=True)
class Frame:
    """The signal space of a mixture, scaled so that the second moment becomes the identity.

    With W = S V D^(-1/2), where V and D are the top eigenpairs of S A S, the identity W'AW = I holds. The metric S is
    diagonal and leaves the theory untouched: it only sets the units in which the noise of the features is compared.

    With an origin, samples are taken relative to it and get one more feature, the constant 1, as the first coordinate.
    Centers then need not be linearly independent, only affinely, and nothing depends on where zero is. The first column
    of V is zero, and the first entry of D is only a unit of length.
    """

    basis: Array  # V, (d, k), orthonormal columns
    values: Array  # D, (k,), falling
    metric: Array | None = None  # diagonal of S, (d,); None stands for the identity
    origin: Array | None = None  # (d,)

    @property
    def n_components(self) -> int:
        """The dimension k of the signal space."""
        return len(self.values)

    @property
    def spread(self) -> Array:
        """The variance in each coordinate, (k,), of noise with variance 1 in each feature: the diagonal of W'W."""
        inverse = 1 / self.values
        if self.origin is not None:
            inverse[0] = 0
        return inverse

    def whiten(self, X: Samples) -> Array:
        """Return the coordinates of the rows of X, (n, k): X W."""
        scaled = X if self.metric is None else X.multiply(self.metric).tocsr() if sp.issparse(X) else X * self.metric
        if self.origin is None:
            return np.asarray(scaled @ self.basis) / np.sqrt(self.values)
        Y = project(scaled, self.basis, self.origin) / np.sqrt(self.values)
        Y[..., 0] = 1
        return Y

    def unwhiten(self, points: Array) -> Array:
        """Return the points of R^d with given coordinates, (d,) or (d, q): S^(-1) V D^(1/2) points."""
        flat = self.basis @ (np.sqrt(self.values) * points.T).T.astype(self.basis.dtype, copy=False)
        if self.origin is not None:
            flat = flat + np.multiply.outer(self.origin, points[0])
        return np.asarray(flat if self.metric is None else (flat.T / self.metric).T)

    def project_hint(self, v: Array, *, from_origin: bool = False) -> Array:
        """Return the hint c in the frame, (k,), with ⟨x, v⟩ = ⟨W'x, c⟩ for every x of the signal space.

        With `from_origin`, ⟨x - origin, v⟩ instead.
        """
        plain = v if self.metric is None else v / self.metric
        c = np.asarray(np.sqrt(self.values) * (plain @ self.basis))
        if self.origin is not None and not from_origin:
            c[0] = self.origin @ v
        return c

    def residual(self, points: Array) -> Array:
        """Return the part of points of R^d outside the signal space, (d, q): S^(-1) (I - VV') S points."""
        scaled = points if self.metric is None else points * self.metric[:, None]
        rest = scaled - self.basis @ (self.basis.T @ scaled)
        return np.asarray(rest if self.metric is None else rest / self.metric[:, None])


def project(X: Samples, basis: Array, origin: Array) -> Array:
    """Return (X - origin) basis, (n, k), without a copy of X or a loss of digits if the origin is far from zero."""
    if X.ndim == 1 or sp.issparse(X):
        return np.asarray(X @ basis - origin @ basis)
    middle, axes = origin.astype(X.dtype), basis.astype(X.dtype)
    result = np.empty((len(X), axes.shape[1]), dtype=X.dtype)
    for rows in row_slices(len(X), CACHED_ROWS):
        result[rows] = (X[rows] - middle) @ axes
    return result


def project_and_measure(X: Samples, basis: Array, origin: Array) -> tuple[Array, Array]:
    """Return (X - origin) basis, (n, k), and the squared distance of X from the subspace that it spans, (n,)."""
    if sp.issparse(X):
        inside = project(X, basis, origin)
        squares = np.asarray(X.multiply(X).sum(axis=1)) - 2 * (X @ origin) + origin @ origin
    else:
        middle, axes = origin.astype(X.dtype), basis.astype(X.dtype)
        centered = (X[rows] - middle for rows in row_slices(len(X), CACHED_ROWS))
        pairs = [(part @ axes, np.einsum("ij,ij->i", part, part)) for part in centered]
        inside, squares = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    return inside, np.maximum(squares.astype(np.float64) - np.einsum("ij,ij->i", inside, inside), 0)


def count_above(values: Array, level: float = 0.0, *, precision: Any = np.float64) -> int:
    """Count the eigenvalues that exceed a level by more than rounding."""
    rounding = 100 * np.finfo(precision).eps * np.abs(values).max(initial=0.0)
    return int(np.count_nonzero(values - level > rounding))


def frame_from_eigenpairs(
    values: Array,
    vectors: Array,
    level: float = 0.0,
    *,
    precision: Any = np.float64,
    name: str = "second moment",
    n_components: int | None = None,
) -> Frame:
    """Return the frame of A = M - level I from the top eigenpairs of M; raise if some of them carry no signal."""
    rank, needed = count_above(values, level, precision=precision), len(values)
    if rank == needed:
        return Frame(basis=vectors, values=values - level)
    requested = n_components or needed
    advice = "Fit at most {possible} components, or check for constant or repeated samples."
    if not rank and level > 0:
        advice = "No direction varies more than the others, as after whitening: search in the samples before that."
    elif not rank:
        advice = "The samples do not vary: check for constant or repeated ones."
    raise RankError(
        "The {moment} has rank {rank}, but n_components={n_components} needs rank {needed}: its eigenvalues fall from "
        "{first:.3g} to {last:.3g}. " + advice,
        moment=name,
        rank=rank,
        n_components=requested,
        needed=needed,
        first=values[0] - level,
        last=values[-1] - level,
        possible=rank + requested - needed,
    )
