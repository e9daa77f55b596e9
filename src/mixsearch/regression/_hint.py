"""Examples of a regression, checked, -> a hint in the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_X_y

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import Frame
from mixsearch.core.validation import FLOAT_DTYPES, as_samples, check_samples
from mixsearch.errors import HintError, Option
from mixsearch.regression._family import RegressionFamily


def check_pair(examples: Any, n_features: int, feature_names: Sequence[str] | None = None) -> tuple[Samples, Array]:
    """Check the examples of a search.

    Parameters
    ----------
    examples : Any
        What the user gave.
    n_features : int
        Of the fit.
    feature_names : sequence of str, optional
        Of the fit, if it saw a data frame.

    Returns
    -------
    X : array of shape (q, d)
    y : array of shape (q,)
    """
    if not isinstance(examples, tuple | list) or len(examples) != 2:
        raise HintError(
            "{argument} must be a pair (X, y): samples of the regression and their responses.",
            code="examples_not_pair",
            argument=Option("examples"),
        )
    X, y = check_X_y(*examples, accept_sparse="csr", dtype=FLOAT_DTYPES)
    if X.shape[1] != n_features:
        raise HintError(
            "The examples have {found} features, but this fit needs {n_features}.",
            code="other_features",
            found=X.shape[1],
            n_features=n_features,
        )
    check_samples(examples[0], n_features, feature_names)
    return as_samples(X), np.asarray(y, dtype=np.float64)


def hint_from_pair(family: RegressionFamily, X: Samples, y: Array) -> Array:
    """Return the coefficients that a few members of a regression show, in the frame.

    Parameters
    ----------
    family : RegressionFamily
    X : array of shape (q, d)
    y : array of shape (q,)

    Returns
    -------
    array of shape (k,)
    """
    standardized, centered = family.design.standardize(X), y - family.offset
    hint = hint_from_responses(family.frame, standardized, centered, intercept=family.fit_intercept)
    if not hint.any():
        raise HintError(
            "The examples do not determine any coefficients: all of them are the same, or every response is zero. Give "
            "examples that differ in X and in y.",
            code="examples_uninformative",
        )
    return hint


def hint_from_responses(frame: Frame, X: Samples, y: Array, *, intercept: bool) -> Array:
    """Estimate the coefficients of a regression from a few of its members, in the frame.

    Parameters
    ----------
    frame : Frame
    X : array of shape (q, r)
        Standardized samples.
    y : array of shape (q,)
        Centered responses.
    intercept : bool
        Whether the regression has an intercept.

    Returns
    -------
    array of shape (k,)
        Zero if the members do not determine any coefficient.

    Notes
    -----
    The paper's hint is the mean of y x, in the frame y Y with Y = D W'x, which is noisy because x is. Least squares on
    Y, which has only k columns, gives the coefficients themselves; with a ridge, a single sample still gives the
    paper's direction.
    """
    Y, k = frame.whiten(X) * frame.values, frame.n_components
    if intercept and len(y) > k + 1:  # fewer samples do not determine an intercept besides the coefficients
        y = y - y[0]  # makes responses of identical samples exactly zero, without rounding
        Y, y = Y - Y.mean(axis=0), y - y.mean()
    if not y.any():
        return np.zeros(k)
    ridge = 0.1 * max(float(np.mean(y**2)), np.finfo(float).tiny)
    return np.asarray(np.linalg.solve(Y.T @ Y + ridge * np.eye(k), Y.T @ y))
