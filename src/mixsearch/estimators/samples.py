"""Samples as scikit-learn's checks leave them, and samples that are scored after the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from mixsearch.errors import SearchError
from mixsearch.types import Samples

FLOATS = (np.float64, np.float32)


def as_samples(checked: Any) -> Samples:
    """Samples that passed scikit-learn's checks, sparse matrices turned into sparse arrays."""
    return checked if isinstance(checked, np.ndarray) else sp.csr_array(checked)


def check_samples(X: Any, n_features: int, names: Any = None) -> Samples:
    """New samples to be scored, (n, d), dense or sparse; in a data frame, under the names that the fit saw."""
    columns = getattr(X, "columns", None)
    if names is not None and columns is not None and list(columns) != list(names):
        raise SearchError(
            f"X has other columns than the fit, or in another order: the first are {list(columns)[:3]}, and were "
            f"{list(names)[:3]}. Pass X[search.feature_names_in_]."
        )
    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOATS))
    if samples.shape[1] != n_features:
        raise SearchError(f"X has {samples.shape[1]} features, but the component has {n_features}.")
    return samples
