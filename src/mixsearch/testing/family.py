"""Check a family against the contract of `mixsearch.core.family`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array, Samples
from mixsearch.core.extraction import extract_by_whitening, find_tensor
from mixsearch.core.family import Family
from mixsearch.core.frame import Frame
from mixsearch.core.rows import Chunks, SampleChunk, chunk_in_memory

Fit = Callable[[Chunks[SampleChunk]], Family]
# Groups of the jackknife that are compared with a refit, and how far they may differ: terms of second order in 1/B.
_GROUPS, _REFIT_TOL = (0, 7, 19), 0.25


class ExactSamples(NamedTuple):
    """Samples whose moments are exactly those of a mixture, and a hint for its first component.

    Attributes
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples.
    center : array of shape (d,)
        Center of the first component.
    weight : float
        Its weight.
    hint : array of shape (d,)
        A direction under which it scores highest.
    y : array of shape (n,), optional
        Responses.
    """

    X: Samples
    center: Array
    weight: float
    hint: Array
    y: Array | None = None


def check_family(
    fit: Fit,
    X: Samples,
    y: ArrayLike | None = None,
    *,
    exact: ExactSamples | None = None,
    change_frame: Callable[[Any, Any], Array] | None = None,
    tol: float = 1e-8,
    seed: int = 0,
) -> None:
    """Check that a family keeps the contract that every search relies on.

    Parameters
    ----------
    fit : callable
        From chunks of samples to the fitted `Family`.
    X : array or sparse matrix of shape (n, d)
        Samples of a mixture, a few hundred at least.
    y : array of shape (n,), optional
        Their responses.
    exact : ExactSamples, optional
        Samples with exact moments: the search must return the exact component.
    change_frame : callable, optional
        From two fits to the matrix, (k, k), that takes coordinates in the frame of the second to the frame of the
        first. By default frames are of the samples themselves.
    tol : float, default=1e-8
        Relative tolerance of identities.
    seed : int, default=0
        Seed of the hints and splits.

    Raises
    ------
    AssertionError
        If a check fails; the message names it.

    Examples
    --------
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> from mixsearch.gaussian import fit_gaussian
    >>> from mixsearch.testing import check_family
    >>> X = make_gaussian_mixture(800, 10, 3, random_state=0).X
    >>> check_family(lambda samples: fit_gaussian(samples, 3, paper=False, seed=0), X)
    """
    rng = np.random.default_rng(seed)
    responses = None if y is None else np.asarray(y, dtype=np.float64)
    family = fit(chunk_in_memory(X, responses))
    _check_protocol(family, X.shape)
    _check_frame(family.frame, tol)
    _check_linearity(family, rng, tol)
    _check_rows(fit, family, X, responses, rng, tol)
    _check_residuals(family, rng)
    _check_leave_one_out(fit, family, X, responses, change_frame or _change_frame, rng)
    if exact is not None:
        _check_exact(fit, exact, tol)


def _check_protocol(family: Family, shape: tuple[int, ...]) -> None:
    # Not isinstance: since Python 3.12 it overlooks members that __getattr__ provides.
    missing = [name for name in vars(Family) if not name.startswith("_") and not hasattr(family, name)]
    assert not missing, f"{type(family).__name__} lacks members of mixsearch.core.family.Family: {', '.join(missing)}"
    n = shape[0]
    assert family.chunks.n_rows == n, f"chunks has {family.chunks.n_rows} rows for {n} samples"
    k = family.frame.n_components
    assert family.mean.shape == (k,), f"mean has shape {family.mean.shape}, needed ({k},)"
    assert 1 <= family.n_components <= k, f"n_components is {family.n_components}, with a frame of {k} coordinates"


def _check_frame(frame: Frame, tol: float) -> None:
    used = frame.spread > 0  # the constant coordinate of a lifted frame has no direction
    gram = frame.basis[:, used].T @ frame.basis[:, used]
    _assert_close(gram, np.eye(int(used.sum())), 1e-5 + tol, "the frame's basis is orthonormal")
    assert np.all(frame.values > 0), "the frame's values are positive"


def _check_linearity(family: Family, rng: np.random.Generator, tol: float) -> None:
    k = family.frame.n_components
    c = rng.standard_normal(k)
    expected = np.tensordot(c, find_tensor(family.hinted, k), axes=1)
    _assert_close(family.hinted(c).matrix, expected, tol, "the hinted moment is linear in the hint")


def _check_rows(fit: Fit, family: Family, X: Samples, y: Array | None, rng: np.random.Generator, tol: float) -> None:
    """Any split or order of the rows gives the same moments."""
    n = X.shape[0]
    v = family.frame.unwhiten(rng.standard_normal(family.frame.n_components))
    cuts = sorted(int(cut) for cut in rng.integers(0, n, size=3))
    order = rng.permutation(n)
    others = {
        "split into chunks": fit(split_rows(X, cuts, y)),
        "in another order": fit(chunk_in_memory(X[order], None if y is None else y[order])),
    }
    for name, other in others.items():
        for one, two in zip(_spectra(family, v), _spectra(other, v), strict=True):
            _assert_close(two, one, max(tol, 1e-7), f"rows {name} give the same moments")


def _spectra(family: Family, v: Array) -> tuple[Array, Array]:
    """Return what does not depend on the signs of eigenvectors: eigenvalues of A, and of R under a direction."""
    hinted = family.hinted(family.frame.project_hint(v)).matrix
    return family.frame.values, np.linalg.eigvalsh((hinted + hinted.T) / 2)


def _check_residuals(family: Family, rng: np.random.Generator) -> None:
    direction = rng.standard_normal(family.frame.n_components)
    replicates = family.residual_replicates(direction)
    n_groups, n = family.chunks.n_groups, family.chunks.n_rows
    rows = replicates.shape[0]
    assert replicates.shape == (rows, n_groups), f"residual_replicates has shape {replicates.shape}"
    if rows == len(family.frame.basis):
        sizes = np.array([n - len(range(group, n, n_groups)) for group in range(n_groups)])
        residuals = family.frame.residual(replicates)
        average = np.linalg.norm(residuals @ sizes / sizes.sum())
        largest = np.linalg.norm(residuals, axis=0).max()
        assert average <= 0.1 * largest + 1e-12, "the residuals of all groups together vanish"


def _check_leave_one_out(
    fit: Fit,
    family: Family,
    X: Samples,
    y: Array | None,
    change_frame: Callable[[Any, Any], Array],
    rng: np.random.Generator,
) -> None:
    """Leaving out a group equals a refit, up to terms of second order."""
    n, n_groups = X.shape[0], family.chunks.n_groups
    # ⟨y, c⟩ = ⟨P y', c⟩ = ⟨y', P'c⟩: the same hint for a refit, whose coordinates are y'.
    c = rng.standard_normal(family.frame.n_components)
    replicates = family.leave_one_out(c)
    for group in _GROUPS:
        rest = np.arange(n) % n_groups != group
        refit = fit(chunk_in_memory(X[rest], None if y is None else y[rest]))
        P = change_frame(family, refit)
        hinted = P @ refit.hinted(P.T @ c).matrix @ P.T
        pairs = {
            "second moment": (replicates.second[group], P @ P.T, np.eye(len(P))),
            "hinted moment": (replicates.hinted[group], hinted, family.hinted(c).matrix),
        }
        for name, (replicate, refitted, whole) in pairs.items():
            change = np.linalg.norm(refitted - whole)
            error = np.linalg.norm(replicate - refitted)
            assert error <= _REFIT_TOL * change + 1e-10, (
                f"leaving out group {group}, the {name} differs from that of a refit by {error:.2g}, where leaving it "
                f"out changes it by {change:.2g}"
            )


def _change_frame(family: Family, other: Family) -> Array:
    """Return the matrix from coordinates in the frame of another fit to coordinates in that of a family, (k, k)."""
    frame, k = family.frame, other.frame.n_components
    points = other.frame.unwhiten(np.eye(k))
    if frame.origin is None:
        return np.asarray(frame.whiten(points.T).T)
    constant = np.eye(k)[0]
    centered = replace(frame, origin=None).whiten((points - np.outer(frame.origin, constant)).T).T
    centered[0] = constant
    return np.asarray(centered)


def _check_exact(fit: Fit, exact: ExactSamples, tol: float) -> None:
    y = None if exact.y is None else np.asarray(exact.y, dtype=np.float64)
    family = fit(chunk_in_memory(exact.X, y))
    candidates = extract_by_whitening(family.hinted(family.frame.project_hint(exact.hint)))
    center = family.frame.unwhiten(candidates.points[:, 0])
    _assert_close(center, exact.center, 100 * tol, "exact moments give the exact center")
    _assert_close(candidates.weights[0], exact.weight, 100 * tol, "exact moments give the exact weight")


def _assert_close(found: ArrayLike, expected: ArrayLike, tol: float, claim: str) -> None:
    one, two = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    assert one.shape == two.shape, f"{claim}: shapes {one.shape} and {two.shape} differ"
    scale = max(float(np.abs(two).max(initial=0.0)), 1e-300)
    error = float(np.abs(one - two).max(initial=0.0)) / scale
    assert error <= tol, f"{claim}: relative difference {error:.2g}, allowed {tol:.2g}"


def split_rows(X: Samples, cuts: Sequence[int], y: Array | None = None) -> Chunks[SampleChunk]:
    """Split samples into chunks at some rows."""
    whole = chunk_in_memory(X, y)
    bounds = pairwise([0, *cuts, X.shape[0]])
    parts = [SampleChunk(a, X[a:b], None if y is None else y[a:b]) for a, b in bounds]
    return Chunks(whole.layout, tuple(parts))
