"""A direction or examples -> a hint v with ⟨μ₁, v⟩ above all other ⟨μᵢ, v⟩."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import Frame
from mixsearch.errors import HintError


def check_one_hint(given: Mapping[str, Any]) -> str:
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


def check_not_orthogonal(frame: Frame, v: Array, scale: float) -> None:
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
