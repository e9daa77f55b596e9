"""Checks of arguments and samples."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Samples
from mixsearch.errors import ArgumentError, Option, SearchError, UnknownArgumentError

# Let the samples determine the number of components.
AUTO = "auto"
FLOAT_DTYPES = (np.float64, np.float32)


def check_positive_int(name: str, value: Any) -> None:
    """Raise unless a value is a positive integer."""
    if not isinstance(value, Integral) or value < 1:
        raise ArgumentError("{argument} must be a positive integer, got {value!r}.", argument=Option(name), value=value)


def check_n_components(n_components: Any) -> int:
    """Return the number of components, or the smallest that "auto" may find."""
    if isinstance(n_components, str) and n_components == AUTO:
        return 1
    if isinstance(n_components, str):
        raise ArgumentError(
            "{argument} must be a positive integer or 'auto', got {value!r}.",
            argument=Option("n_components"),
            value=n_components,
        )
    check_positive_int("n_components", n_components)
    return int(n_components)


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise unless a value is one of those allowed."""
    if value not in allowed:
        raise ArgumentError(
            "{argument} must be one of {choices}, got {value!r}.",
            argument=Option(name),
            choices=", ".join(map(repr, allowed)),
            value=value,
        )


def check_n_samples(X: Any, needed: int, purpose: str) -> None:
    """Raise if there are too few samples for a purpose."""
    if X.shape[0] < needed:
        raise SearchError(
            "{purpose} need at least {needed} samples, but X has n_samples={n_samples}. Provide more samples.",
            code="too_few_samples",
            purpose=purpose,
            needed=needed,
            n_samples=X.shape[0],
        )


def check_n_features(n_features: int, needed: int, what: str) -> None:
    """Raise if the dimension is too small for the components."""
    if n_features < needed:
        raise SearchError(
            "{what} need at least {needed} features, but X has n_features={n_features}. Fit fewer components, or "
            "provide more features.",
            code="too_few_features",
            what=what,
            needed=needed,
            n_features=n_features,
        )


def reject_unknown_arguments(function: Callable[..., Any], unknown: Iterable[str], known: Iterable[str] = ()) -> None:
    """Raise for arguments that a function does not have, naming those it has, nearest first.

    Parameters
    ----------
    function : callable
    unknown : iterable of str
        Names of keyword arguments that it got and does not have.
    known : iterable of str
        Names that it takes besides those of its signature.
    """
    for name in unknown:
        own = inspect.signature(function).parameters.values()
        names = [each.name for each in own if each.kind is not each.VAR_KEYWORD and each.name != "self"]
        names += [other for other in known if other not in names]
        nearest = sorted(names, key=lambda other: -difflib.SequenceMatcher(None, name, other).ratio())
        raise UnknownArgumentError(
            "{function}() has no argument {argument!r}. Its arguments, nearest first: {arguments}.",
            function=function.__name__,
            argument=name,
            arguments=", ".join(nearest),
        )


def as_samples(checked: Any) -> Samples:
    """Return samples that passed scikit-learn's checks, with sparse matrices as sparse arrays."""
    return checked if isinstance(checked, np.ndarray) else sp.csr_array(checked)


def check_samples(X: Any, n_features: int, names: Any = None) -> Samples:
    """Check new samples, (n, d), dense or sparse; a data frame must have the columns of the fit."""
    columns = getattr(X, "columns", None)
    if names is not None and columns is not None and list(columns) != list(names):
        raise SearchError(
            "The columns of X differ from those of the fit, or are in another order: X starts with {found}, the fit "
            "with {expected}. Pass X[search.feature_names_in_].",
            code="other_columns",
            found=list(columns)[:3],
            expected=list(names)[:3],
        )
    # scikit-learn takes longer to import than an index to open and to search.
    from sklearn.utils.validation import check_array

    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOAT_DTYPES))
    if samples.shape[1] != n_features:
        raise SearchError(
            "X has {found} features, but the component has {n_features}.",
            code="other_features",
            found=samples.shape[1],
            n_features=n_features,
        )
    return samples
