"""A direction or examples -> a hint v with ⟨μ₁, v⟩ above all other ⟨μᵢ, v⟩."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import Frame
from mixsearch.errors import HintError


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
    direction = np.asarray(v, dtype=np.float64)
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


def hint_from_examples(examples: Samples, mean: Array) -> Array:
    """Return the mean of a few members relative to the mean of all samples, (d,).

    The paper takes the mean of the members itself. Relative to the mean of all samples, the hint does not depend on the
    origin: data far from it would give every component about the same score.
    """
    return mean_of(examples) - mean


def mean_of(X: Samples) -> Array:
    """Compute the mean of samples, (d,)."""
    return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
