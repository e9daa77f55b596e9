"""The dimension of subspaces, by their likelihood."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from mixsearch.core.validation import check_n_components, check_n_features
from mixsearch.errors import SearchError, collect_warnings
from mixsearch.subspace._component import Subspace
from mixsearch.subspace._own_dims import MAX_DIM
from mixsearch.subspace._search import SubspaceSearch
from mixsearch.subspace._starts import mixture_bic


def choose_dim(
    X: ArrayLike,
    examples: ArrayLike,
    n_components: int | Literal["auto"] = "auto",
    *,
    center: bool | Literal["auto"] = "auto",
) -> int:
    """Choose the dimension of subspaces by the Bayesian information criterion.

    Parameters
    ----------
    X : array of shape (n, d)
        The samples.
    examples : array of shape (q, d)
        A few samples of one subspace.
    n_components : int or "auto", default="auto"
        The number of subspaces.
    center : bool or "auto", default="auto"
        Whether subspaces contain the mean of all samples rather than zero, as in `SubspaceSearch`.

    Returns
    -------
    int
        From 1 to 8, and such that all subspaces together have fewer dimensions than there are features.

    Examples
    --------
    >>> from mixsearch.datasets import make_subspaces
    >>> data = make_subspaces(1000, 12, 3, dim=2, random_state=0)
    >>> choose_dim(data.X, data.X[data.labels == 0][:4])
    2
    """
    rows, few = np.asarray(X, dtype=np.float64), np.asarray(examples, dtype=np.float64)
    minimum, d = check_n_components(n_components), rows.shape[1]
    check_n_features(d, minimum + 1, f"{minimum} subspaces and noise")
    criteria, failed = {}, None
    for dim in range(1, min(MAX_DIM, (d - 1) // minimum) + 1):
        try:
            with collect_warnings():
                search = SubspaceSearch(n_components, dim=dim, center=center, self_expression=False).fit(rows)
                criteria[dim] = _bic(search.search(examples=few, refine=True))
        except SearchError as error:  # this many subspaces need more directions
            failed = error
    if not criteria and failed is not None:
        raise failed
    return min(criteria, key=criteria.__getitem__)


def _bic(found: Subspace) -> float:
    family, refined = found._family, found._refined
    if refined is None:
        return float("inf")
    return mixture_bic(family, refined.mixture, refined.objectives[-1])
