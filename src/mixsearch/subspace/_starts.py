"""Starts of EM for all subspaces without a hint: from moments, or from clusters of a graph of samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from mixsearch._typing import Array
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.em import EMOptions, EMResult
from mixsearch.core.walk import Walk
from mixsearch.errors import SearchError
from mixsearch.subspace._em import (
    SubspaceMixture,
    compute_coordinates,
    initial_mixture,
    mixture_of_labels,
    run_em_from,
    with_own_dims,
)
from mixsearch.subspace._extraction import remaining_subspaces
from mixsearch.subspace._family import SubspaceFamily


def best_mixture(family: SubspaceFamily, walk: Walk, options: EMOptions) -> SubspaceMixture:
    """Return the likelier of two mixtures: EM started from moments, and from clusters of a graph.

    Parameters
    ----------
    family : SubspaceFamily
        Of a few samples, in memory.
    walk : Walk
        On the same samples.
    options : EMOptions

    Returns
    -------
    SubspaceMixture
    """
    rows = family.partitions.map(compute_coordinates, family.frame.values).collect().partition
    starts = [mixture_of_labels(family, rows, cluster_nodes(walk, family.n_components))]
    hinted = family.hinted(np.eye(family.frame.n_components))
    try:
        directions = list(remaining_subspaces(family.hinted, hinted, family.dim, []))
        starts.append(initial_mixture(family, directions))
    except (SearchError, np.linalg.LinAlgError):  # moments of a few samples may fail
        pass
    fits = [run_em_from(family, start, options) for start in starts]
    return find_own_dims(family, max(fits, key=lambda fit: fit.objectives[-1]), options).state


def find_own_dims(
    family: SubspaceFamily, fitted: EMResult[SubspaceMixture], options: EMOptions
) -> EMResult[SubspaceMixture]:
    """Return a fit whose subspaces have different dimensions, if the family allows it."""
    return run_em_from(family, with_own_dims(family, fitted.state), options) if family.has_own_dims else fitted


def choose_fit(family: SubspaceFamily, fits: Sequence[EMResult[SubspaceMixture]]) -> EMResult[SubspaceMixture]:
    """Return the fit with the least Bayesian information criterion: the likeliest, if all have the same dimensions."""
    return min(fits, key=lambda fit: mixture_bic(family, fit.state, fit.objectives[-1]))


def mixture_bic(family: SubspaceFamily, mixture: SubspaceMixture, objective: float) -> float:
    """Return the Bayesian information criterion, per sample: fits may leave out different outliers."""
    d, n = len(family.frame.basis), family.partitions.n_rows
    dims = np.array([mixture.dim_of(index) for index in range(len(mixture.weights))])
    n_parameters = float(np.sum(dims * (d - dims) + dims + 2)) - 1
    return float((n_parameters * np.log(n) - 2 * objective) / n)


def cluster_nodes(walk: Walk, n_clusters: int) -> Array:
    """Return the clusters of the nodes of a graph, as labels from 0 on, (m,).

    Notes
    -----
    By the top eigenvectors of the normalised graph: columns of a pivoted QR decomposition choose one node of each
    cluster, and the nearest rotation turns the eigenvectors into indicators of the clusters (Damle, Minden and Ying).
    """
    graph = walk.graph.toarray()
    vectors = top_eigenpairs((graph + graph.T) / 2, n_clusters).vectors
    _, pivots = scipy.linalg.qr(vectors.T, mode="r", pivoting=True)
    rotation, _ = scipy.linalg.polar(vectors[pivots[:n_clusters]].T)
    return np.asarray(np.abs(vectors @ rotation).argmax(axis=1))
