"""Examples of a regression -> a hint in the frame."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import Frame


def hint_from_responses(frame: Frame, X: Samples, y: Array, *, intercept: bool) -> Array:
    """What a few members of a regression say of its coefficients, in the frame, (k,).

    The paper's hint is the mean of y x, in the frame y Y with Y = D W'x: noisy, since x is. The coefficients themselves
    follow by least squares on Y, of which there are only k; the ridge leaves the paper's direction to a single sample.
    """
    Y, k = frame.whiten(X) * frame.values, frame.n_components
    if intercept and len(y) > k + 1:  # fewer could not tell an intercept from the coefficients
        y = y - y[0]  # copies of one sample have a response of zero then, and not one of rounding
        Y, y = Y - Y.mean(axis=0), y - y.mean()
    if not y.any():
        return np.zeros(k)
    ridge = 0.1 * max(float(np.mean(y**2)), np.finfo(float).tiny)
    return np.asarray(np.linalg.solve(Y.T @ Y + ridge * np.eye(k), Y.T @ y))
