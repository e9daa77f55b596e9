"""Checks of arguments, samples and hints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import Frame
from mixsearch.errors import ArgumentError, HintError, Option, SearchError

# Let the samples determine the number of components.
AUTO = "auto"
FLOAT_DTYPES = (np.float64, np.float32)


def check_positive_int(name: str, value: Any) -> None:
    """Raise unless a value is a positive integer."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
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


def largest_number(X: Any) -> float:
    """Return the largest size of a number in an array, dense or sparse."""
    values = X if isinstance(X, np.ndarray) else X.data
    return float(max(np.max(values, initial=0.0), -np.min(values, initial=0.0)))


def check_magnitude(X: Any, power: int = 3) -> None:
    """Raise if numbers are not finite, or so large, or so small, that sums of their powers overflow or vanish."""
    values = X if isinstance(X, np.ndarray) else X.data
    exact = (float(np.finfo(np.float64).max) / max(values.size, 1)) ** (1 / power)
    limit = min((float(np.finfo(X.dtype).max) / max(values.size, 1)) ** 0.5, exact)
    # One pass: the norm bounds the largest number from above and below.
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(np.linalg.norm(values))
    if np.sqrt(values.size) / exact <= norm <= limit:
        return
    from sklearn.utils import assert_all_finite

    assert_all_finite(values, input_name="X")
    largest = largest_number(X)
    if largest > limit or 0 < largest < 1 / exact:
        raise SearchError(
            "The largest number is {largest:.3g}, but moments of this many samples need one between {least:.3g} and "
            "{most:.3g}. Multiply by a constant first.",
            code="too_large" if largest > limit else "too_small",
            largest=largest,
            least=1 / exact,
            most=limit,
        )


@contextmanager
def as_search_errors() -> Iterator[None]:
    """Raise what scikit-learn's checks find as an error of ours."""
    try:
        yield
    except SearchError:
        raise
    except (TypeError, ValueError) as error:
        if isinstance(error, TypeError) and "Sparse" not in str(error):  # for objects, its convention is a TypeError
            raise
        raise SearchError("{reason}", code="bad_samples", reason=str(error)) from error


def as_samples(checked: Any) -> Samples:
    """Return samples that passed scikit-learn's checks, with sparse matrices as sparse arrays."""
    return checked if isinstance(checked, np.ndarray) else sp.csr_array(checked)


def check_samples(X: Any, n_features: int, names: Any = None) -> Samples:
    """Check new samples, (n, d), dense or sparse; a data frame must have the columns of the fit."""
    columns = getattr(X, "columns", None)
    if names is not None and columns is not None and list(columns) != list(names):
        given = list(columns)
        first = next((i for i, pair in enumerate(zip(given, names, strict=False)) if pair[0] != pair[1]), len(given))
        raise SearchError(
            "The columns of X are not those of the fit: it has {n_found} of {n_expected}, and column {column} (counted "
            "from 0) should be {expected!r}. Pass X[search.feature_names_in_].",
            code="other_columns",
            n_found=len(given),
            n_expected=len(names),
            column=first,
            expected=names[first] if first < len(names) else None,
        )
    # scikit-learn takes longer to import than an index to open and to search.
    from sklearn.utils.validation import check_array

    with as_search_errors():
        samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOAT_DTYPES))
    if samples.shape[1] != n_features:
        raise SearchError(
            "X has {found} features, but the component has {n_features}.",
            code="other_features",
            found=samples.shape[1],
            n_features=n_features,
        )
    return samples


def check_one_hint(given: Mapping[str, Any]) -> str:
    """Return the name of the one hint that was given."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise HintError(
            "Give exactly one of {choices}, got {given}.",
            code="one_hint",
            choices=", ".join(given),
            given=" and ".join(names) or "none",
        )
    return names[0]


def hint_from_direction(v: Any, n_features: int) -> Array:
    """Check a direction, (d,)."""
    try:
        direction = np.asarray(v, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise HintError("The hint is not numeric: {reason}.", code="hint_type", reason=str(error)) from error
    if direction.ndim != 1 or len(direction) != n_features:
        raise HintError(
            "The hint has shape {shape}, but samples with {n_features} features need ({n_features},)."
            + (" Pass several samples as examples=." if direction.ndim == 2 else ""),
            code="hint_shape",
            shape=direction.shape,
            n_features=n_features,
        )
    if not np.isfinite(direction).all():
        raise HintError("The hint contains NaN or infinity. Every entry must be finite.", code="hint_not_finite")
    if not direction.any():
        raise HintError(
            "The hint is zero, so it prefers no component. Give a direction, or examples of the component.",
            code="hint_zero",
        )
    check_magnitude(direction, power=4)
    return direction


def check_not_orthogonal(frame: Frame, v: Array, scale: float) -> None:
    """Raise if a hint is orthogonal to the signal space, where the components lie."""
    plain = v if frame.metric is None else v / frame.metric
    if not np.linalg.norm(plain @ frame.basis) > 1e-10 * scale:
        raise HintError(
            "The hint is orthogonal to every direction in which the components differ, so all of them score the same. "
            "Give a direction in which they differ, or examples of the component.",
            code="hint_orthogonal",
        )


def mean_of(X: Samples) -> Array:
    """Compute the mean of samples, (d,)."""
    return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
