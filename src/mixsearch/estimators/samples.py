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


def check_samples(X: Any, n_features: int) -> Samples:
    """New samples to be scored, (n, d), dense or sparse."""
    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOATS))
    if samples.shape[1] != n_features:
        raise SearchError(f"X has {samples.shape[1]} features, but the component has {n_features}.")
    return samples
