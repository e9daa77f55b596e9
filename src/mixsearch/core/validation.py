"""Checks of arguments and samples."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from mixsearch._typing import Samples
from mixsearch.errors import SearchError

# The number of components that the samples themselves show.
AUTO = "auto"


def check_positive_int(name: str, value: Any) -> None:
    """A count must be a whole number from 1."""
    if not isinstance(value, Integral) or value < 1:
        raise SearchError(f"{name} must be a whole number from 1; found {value!r}.")


def check_n_components(n_components: Any) -> int:
    """A number of components, or the least that "auto" may find."""
    if isinstance(n_components, str) and n_components == AUTO:
        return 1
    if isinstance(n_components, str):
        raise SearchError(f"n_components must be a whole number from 1, or 'auto'; found {n_components!r}.")
    check_positive_int("n_components", n_components)
    return int(n_components)


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """An option must be one of its names."""
    if value not in allowed:
        raise SearchError(f"{name} must be one of {', '.join(map(repr, allowed))}; found {value!r}.")


def check_n_samples(X: Any, needed: int, why: str) -> None:
    """There must be enough samples."""
    if X.shape[0] < needed:
        raise SearchError(f"Found n_samples={X.shape[0]}, but {why} need at least {needed}. Give more samples.")


def check_n_features(n_features: int, needed: int, limit: int, what: str, why: str) -> None:
    """The dimension must be able to hold the components."""
    if needed > limit:
        raise SearchError(
            f"Found n_features={n_features}, which hold {limit} {what} at most, since {why}; {needed} were asked for. "
            "Ask for fewer, or give more features."
        )


FLOAT_DTYPES = (np.float64, np.float32)


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
    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOAT_DTYPES))
    if samples.shape[1] != n_features:
        raise SearchError(f"X has {samples.shape[1]} features, but the component has {n_features}.")
    return samples
