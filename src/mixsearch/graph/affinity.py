"""The affinity of rows: a graph of nearest neighbours, in which edges within one component of a mixture count more."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors

from mixsearch._typing import Array
from mixsearch.graph.tuning import TUNING, Tuning
from mixsearch.machine import one_blas_thread

SHAPES = ("spherical", "diag", "tied", "full")


def build_affinity(X: Array, resp: Array, copies: Array | None = None, tuning: Tuning = TUNING) -> sp.csr_array:
    """Build the affinity of rows, (n, n), symmetric: features on one scale, components of a mixture (n, k), n > 1.

    Notes
    -----
    Neighbours are found twice: in the features, and after the average covariance within components is the identity. A
    row that stands for several copies has an edge to itself.
    """
    edges = connect_neighbors(X, tuning.n_neighbors) + connect_neighbors(whiten(X, resp), tuning.n_neighbors)
    if copies is not None and copies.max() > 1:
        edges = edges + sp.diags_array(np.minimum(copies - 1.0, tuning.n_neighbors))
    return weigh_by_component(sp.csr_array(edges), resp, tuning.between)


def whiten(X: Array, resp: Array) -> Array:
    """Transform rows so that the average covariance within the components of a mixture is the identity."""
    sizes = np.maximum(resp.sum(axis=0), np.finfo(np.float64).tiny)
    X = X - X.mean(axis=0)
    centers = resp.T @ X / sizes[:, None]
    within = (X.T @ X - (centers * sizes[:, None]).T @ centers) / len(X)
    scale = max(
        float(np.trace(within)) / len(within), TUNING.within_ridge * float(X.var(axis=0).mean()), np.finfo(float).tiny
    )
    within += TUNING.within_ridge * scale * np.eye(len(within))
    values, vectors = np.linalg.eigh(within)
    return np.asarray(X @ (vectors / np.sqrt(np.maximum(values, 1e-3 * TUNING.within_ridge * scale))))


def connect_neighbors(X: Array, n_neighbors: int) -> sp.csr_array:
    """Connect each row with its nearest neighbours, (n, n), symmetric.

    Notes
    -----
    The weight exp(-(d / d_k)²) is relative to the distance d_k of the last neighbour, so that it does not depend on the
    density of rows. An edge that only one of its ends chose counts as much as one that both chose.
    """
    n = len(X)
    n_neighbors = min(n_neighbors, n - 1)
    distances, indices = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    weights = np.exp(-((distances / np.maximum(distances[:, -1:], np.finfo(np.float64).tiny)) ** 2))
    rows = np.repeat(np.arange(n), n_neighbors)
    edges = sp.csr_array((weights.ravel(), (rows, indices.ravel())), shape=(n, n))
    return sp.csr_array(edges.maximum(edges.T))


def weigh_by_component(edges: sp.csr_array, resp: Array, between: float) -> sp.csr_array:
    """Multiply the weight of each edge by `between` plus the probability that its ends are of one component.

    `resp` has the probability of each component of a mixture for each node, (n, k).
    """
    edges = sp.csr_array(edges)
    rows = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    same = np.einsum("ij,ij->i", resp[rows], resp[edges.indices])
    return sp.csr_array((edges.data * (between + same), edges.indices, edges.indptr), shape=edges.shape)


def select_mixture(X: Array, tuning: Tuning = TUNING) -> GaussianMixture:
    """Select the shape and the number of the components of a Gaussian mixture by BIC.

    Notes
    -----
    For each shape the number of components grows until BIC is worse twice in a row. Rows beyond `max_mixture_rows` are
    left out.
    """
    X = X[sample_rows(len(X), tuning.max_mixture_rows)]
    ridge = TUNING.ridge * max(float(X.var(axis=0).mean()), TUNING.ridge)
    best, lowest = None, np.inf
    with one_blas_thread, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for shape in SHAPES:
            criteria: list[float] = []
            for k in range(1, min(tuning.max_components, len(X)) + 1):
                mixture = GaussianMixture(k, covariance_type=shape, reg_covar=ridge, random_state=0).fit(X)
                criteria.append(float(mixture.bic(X)))
                if criteria[-1] < lowest:
                    best, lowest = mixture, criteria[-1]
                if len(criteria) > 2 and min(criteria[-2:]) > min(criteria[:-2]):
                    break
    assert best is not None
    return best


def sample_rows(n_rows: int, n: int) -> Array:
    """Draw at most n rows of a table, in order: the same ones in every call."""
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:n])
