"""A direction, examples or documents -> a hint v with ⟨μ₁, v⟩ above all other ⟨μᵢ, v⟩."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch.errors import HintError
from mixsearch.types import Array, Frame, Samples


def require_one(given: Mapping[str, Any]) -> str:
    """The name of the one hint that was given."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        found = "none" if not names else " and ".join(names)
        raise HintError(f"A search needs exactly one hint out of {', '.join(given)}; found {found}.")
    return names[0]


def hint_from_direction(v: Any, n_features: int) -> Array:
    """A direction as the user gives it, checked, (d,)."""
    direction = np.asarray(v, dtype=np.float64)
    if direction.ndim != 1 or len(direction) != n_features:
        raise HintError(
            f"The hint has shape {direction.shape}, but samples of {n_features} features need ({n_features},)."
            + (" Pass several samples as examples=." if direction.ndim == 2 else "")
        )
    if not np.isfinite(direction).all():
        raise HintError("The hint contains NaN or infinity. Every entry must be a finite number.")
    if not direction.any():
        raise HintError("The hint is zero, so it prefers no component. Give a direction, or examples of the component.")
    return direction


def require_seen(frame: Frame, v: Array, scale: float) -> None:
    """A hint must lie at least partly in the directions in which the components lie."""
    plain = v if frame.metric is None else v / frame.metric
    if not np.linalg.norm(plain @ frame.basis) > 1e-10 * scale:
        raise HintError(
            "The hint is orthogonal to every direction in which the components differ, so all of them score the same. "
            "Give a direction in which they differ, or examples of the wanted one."
        )


def hint_from_examples(examples: Samples, mean: Array) -> Array:
    """The mean of a few members, seen from the mean of all samples, (d,).

    The paper takes the mean of the members itself. Seen from the mean of all samples the hint no longer depends on
    where the origin is: data far from it give every component about the same score otherwise.
    """
    return np.asarray(examples.mean(axis=0, dtype=np.float64)).ravel() - mean


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


def hint_from_documents(counts: sp.csr_array, word_mean: Array) -> Array:
    """The word frequencies of a few documents, each with the same say, seen from those of the corpus, (d,)."""
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    if not lengths.any():
        raise HintError("The documents of the hint hold no word of the vocabulary. Give documents with words.")
    mean = np.asarray(counts.T @ (1 / np.where(lengths > 0, lengths, np.inf))) / np.count_nonzero(lengths)
    return mean - word_mean
