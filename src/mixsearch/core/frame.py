"""The frame: the signal space of a mixture, scaled so that the second moment becomes the identity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.data.chunks import CACHED_ROWS, row_slices
from mixsearch.errors import RankError


@dataclass(frozen=True, slots=True)
class Frame:
    """The signal space of a mixture, scaled so that the second moment becomes the identity.

    With W = S V D^(-1/2), where V and D are the top eigenpairs of S A S, the identity W'AW = I holds. The metric S is
    diagonal and leaves the theory untouched: it only decides in which units the noise of the features is compared.

    With an origin the samples are seen from there and get one more feature, the constant 1, which is the frame's first
    coordinate: centers then need not be linearly independent, only no one on the others' plane, and nothing depends
    on where zero is. Its column of V is empty, and its entry of D only a unit of length.
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
        """The variance in each coordinate, (k,), of noise that has variance 1 in each feature: W'W."""
        inverse = 1 / self.values
        if self.origin is not None:
            inverse[0] = 0
        return inverse

    def whiten(self, X: Samples) -> Array:
        """Coordinates of the rows of X, (n, k): X W."""
        scaled = X if self.metric is None else X.multiply(self.metric).tocsr() if sp.issparse(X) else X * self.metric
        if self.origin is None:
            return np.asarray(scaled @ self.basis) / np.sqrt(self.values)
        Y = project(scaled, self.basis, self.origin) / np.sqrt(self.values)
        Y[..., 0] = 1
        return Y

    def unwhiten(self, points: Array) -> Array:
        """The points of R^d with these coordinates, (d,) or (d, q): S^(-1) V D^(1/2) points."""
        flat = self.basis @ (np.sqrt(self.values) * points.T).T.astype(self.basis.dtype, copy=False)
        if self.origin is not None:
            flat = flat + np.multiply.outer(self.origin, points[0])
        return np.asarray(flat if self.metric is None else (flat.T / self.metric).T)

    def project_hint(self, v: Array, *, from_origin: bool = False) -> Array:
        """The hint as a function of whitened coordinates, (k,): ⟨x, v⟩ = ⟨W'x, c⟩ for every x of the signal space.

        Seen from the origin, it is ⟨x - origin, v⟩ instead.
        """
        plain = v if self.metric is None else v / self.metric
        c = np.asarray(np.sqrt(self.values) * (plain @ self.basis))
        if self.origin is not None and not from_origin:
            c[0] = self.origin @ v
        return c

    def residual(self, points: Array) -> Array:
        """What the signal space does not hold of points of R^d, (d, q): S^(-1) (I - VV') S points."""
        scaled = points if self.metric is None else points * self.metric[:, None]
        outside = scaled - self.basis @ (self.basis.T @ scaled)
        return np.asarray(outside if self.metric is None else outside / self.metric[:, None])

    def rows(self, features: Array) -> Frame:
        """The frame as far as some features go: what `unwhiten` gives has these only."""
        part = [None if each is None else each[features] for each in (self.metric, self.origin)]
        return Frame(self.basis[features], self.values, *part)

    def take(self, n_components: int) -> Frame:
        """The frame of the first components only. Frames are nested: no new fit is needed."""
        return replace(self, basis=self.basis[:, :n_components], values=self.values[:n_components])


def project(X: Samples, basis: Array, origin: Array) -> Array:
    """(X - origin) basis, (n, k), without a copy of X or a loss of digits where the origin is far from zero."""
    if X.ndim == 1 or sp.issparse(X):
        return np.asarray(X @ basis - origin @ basis)
    middle, axes = origin.astype(X.dtype), basis.astype(X.dtype)
    return np.concatenate([(X[rows] - middle) @ axes for rows in row_slices(len(X), CACHED_ROWS)])


def count_above(values: Array, level: float = 0.0, *, precision: Any = np.float64) -> int:
    """How many falling eigenvalues exceed a level by more than the rounding of that precision."""
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
    """The frame of A = M - level I from the top eigenpairs of M, or an error that says how many carry signal.

    The components that so many eigenpairs stand for are as many as those, where nothing else is said.
    """
    rank, needed = count_above(values, level, precision=precision), len(values)
    asked = n_components or needed
    if rank < needed:
        signal = values - level
        raise RankError(
            f"The {name} has rank {rank}, but {asked} components need rank {needed}: "
            f"its eigenvalues fall from {signal[0]:.3g} to {signal[-1]:.3g}. "
            + (f"Ask for {rank + asked - needed} components at most" if rank else "The data show no component at all")
            + ", or check them for constant or repeated samples."
        )
    return Frame(basis=vectors, values=values - level)
