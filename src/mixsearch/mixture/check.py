"""Which component of a fitted mixture the examples mean, and whether rows follow the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import gammainc, kolmogorov

from mixsearch._typing import Array
from mixsearch.core.rows import Chunk, Chunks
from mixsearch.errors import Option, SearchWarning, UnlikelyMixtureWarning
from mixsearch.mixture.em import Held, Model, P, posterior, responsibilities, thin_rows
from mixsearch.mixture.tuning import TUNING

# Rows with less of a component do not change its distribution.
TINY_RESP = 1e-7


def test_rows(model: Model[P], rows: Chunks[Any], params: P) -> Array:
    """Test on a subset of the rows whether those of each component follow the model: p-values, (k,)."""
    return fit_p_values(model, thin_rows(rows, len(params.weights)).chunk, params)


def check_fit(p_value: float, model: str) -> list[SearchWarning]:
    """Warn if the rows of a component do not follow the model, which is named."""
    if p_value >= TUNING.misfit_p_value:
        return []
    return [
        UnlikelyMixtureWarning(
            "The samples of this component do not follow {model} (p-value {p_value:.1g}): its weight, memberships and "
            "standard errors are rough. Fit more components ({argument}) or another model, scale the features, or use "
            "`mixsearch.find`, which needs no model.",
            code="misfit",
            model=model,
            p_value=p_value,
            argument=Option("n_components"),
        )
    ]


def fit_p_values(model: Model[P], chunk: Chunk, params: P) -> Array:
    """Compute the p-value of each component: how often members would look as little like the model, (k,).

    Weighted by responsibilities, the squared Mahalanobis distances of rows follow chi-squared, however much the
    component overlaps with others: the Kolmogorov-Smirnov test compares both.
    """
    resp, squares = posterior(model, chunk, params), model.squares(chunk, params)
    return np.array([_test_squares(squares[:, i], resp[:, i], model.n_dims) for i in range(resp.shape[1])])


def _test_squares(squares: Array, resp: Array, n_dims: int) -> float:
    size = float(resp.sum())
    if size < 2:  # nothing to compare
        return 1.0
    squares, resp = squares[resp > TINY_RESP], resp[resp > TINY_RESP]
    order = np.argsort(squares)
    expected, weights = gammainc(n_dims / 2, squares[order] / 2), resp[order] / size
    observed = np.cumsum(weights)
    gap = max(float(np.max(observed - expected)), float(np.max(expected - observed + weights)))
    effective = size**2 / float(resp @ resp)
    return float(kolmogorov(gap * np.sqrt(min(size, effective))))


def choose_component(joint: Array, weights: Array, negative: Array | None = None) -> Array:
    """Compute log P(all examples in component i, no negative one in i), (k,), from log αᵢpᵢ(x), (q, k)."""
    together = joint.sum(axis=0) - (len(joint) - 1) * np.log(np.maximum(weights, np.finfo(np.float64).tiny))
    if negative is None or not len(negative):
        return np.asarray(together)
    outside = -np.expm1(negative - np.logaddexp.reduce(negative, axis=1, keepdims=True))
    return np.asarray(together + np.log(np.maximum(outside, 1e-300)).sum(axis=0))


def hold_examples(
    chunks: Sequence[Any], joint: Sequence[Array], component: int, *, always: bool = False
) -> Held | None:
    """Hold examples in their component, and negative ones out of it, if the mixture contradicts them or `always`.

    `chunks` and `joint`, log αᵢpᵢ(x), are those of the examples, and of negative ones if there are any.
    """
    resp = [responsibilities(logs)[0] for logs in joint]
    n_contradicted = float((1 - resp[0][:, component]).sum() + sum(each[:, component].sum() for each in resp[1:]))
    if n_contradicted <= TUNING.max_contradicted and not always:
        return None
    is_component = np.arange(joint[0].shape[1]) == component
    allowed = [np.tile(mask, (len(logs), 1)) for mask, logs in zip((is_component, ~is_component), joint, strict=False)]
    return Held(type(chunks[0]).joined(list(chunks)), np.concatenate(allowed))
