"""A line that some rows of a table follow, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mixsearch.core.separation import verdict_by_confidence
from mixsearch.regression import RegressionComponent, RegressionSearch
from mixsearch.rows._numbered import NumberedRows, count_rows, find_doubtful, rank_rows

_N_DOUBTFUL = 5


def find_line(
    rows: NumberedRows, n_components: Any = "auto", joint: Literal["auto"] | bool = "auto"
) -> RegressionComponent:
    """Return the line that the examples follow.

    Parameters
    ----------
    rows : NumberedRows
        Their last column is predicted from the others.
    n_components, joint
        As `RegressionSearch` takes them.

    Returns
    -------
    RegressionComponent
    """
    X, y = rows.values[:, :-1], rows.values[:, -1]
    search = RegressionSearch(n_components, joint=joint).fit(X, y)
    return search.search(examples=(X[rows.examples], y[rows.examples]), refine=True)


def describe_line(
    found: RegressionComponent, rows: NumberedRows, features: Sequence[str], n_rows: int = 5
) -> dict[str, Any]:
    """Return a line as JSON has it.

    Parameters
    ----------
    found : RegressionComponent
        As `find_line` returns it.
    rows : NumberedRows
        The same rows.
    features : sequence of str
        The names of the columns that it predicts from.
    n_rows : int, default=5
        How many typical rows to show.

    Returns
    -------
    dict
    """
    X, y = rows.values[:, :-1], rows.values[:, -1]
    membership, predicted = found.membership(X, y), found.predict(X)
    density = np.exp(-0.5 * (y - predicted) ** 2 / max(found.noise_variance, np.finfo(float).tiny))

    def show(indices: Any) -> list[dict[str, Any]]:
        facts = np.column_stack([membership, y, predicted])[indices].tolist()
        names = ("membership", "y", "predicted")
        return [rows.describe(i, **dict(zip(names, each, strict=True))) for i, each in zip(indices, facts, strict=True)]

    errors, at_zero = found.stderr, float(found.predict_stderr(np.zeros((1, len(features))))[0])
    pairs = zip(features, found.center.tolist(), errors.center.tolist(), strict=True)
    return {
        "like": [rows.describe(index) for index in rows.examples],
        "n_table_rows": rows.table.num_rows,
        "n_rows": len(rows.rows),
        "n_left_out": rows.n_left_out,
        "n_components": len(found.scores),
        "joint": found.joint,
        "coefficients": {name: _estimate(value, error) for name, value, error in pairs},
        "intercept": _estimate(found.intercept, at_zero),
        "weight": _estimate(found.weight, errors.weight),
        "n_members": count_rows(found.weight, errors.weight, len(rows.rows)),
        "noise": float(np.sqrt(found.noise_variance)),
        "confidence": found.confidence,
        "verdict": verdict_by_confidence(found.confidence)[0],
        "typical_rows": show(rank_rows(membership * density, rows, n_rows)),
        "doubtful_rows": show(find_doubtful(membership, min(n_rows, _N_DOUBTFUL))),
    }


def _estimate(value: float, stderr: float) -> dict[str, float | None]:
    return {"value": float(value), "stderr": float(stderr) if np.isfinite(stderr) else None}
