"""A subspace that some rows of a table lie in, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.separation import verdict_by_confidence
from mixsearch.rows._numbered import NumberedRows, count_rows, find_doubtful, rank_rows
from mixsearch.subspace import Subspace, SubspaceSearch

_N_DOUBTFUL = 5
_NO_INTERVAL = {"low": None, "high": None}
# Columns whose deviations differ by more than this factor have different units.
_MAX_RATIO = 10.0


def scale_columns(values: Array, scale: bool | None = None) -> tuple[Array, bool]:
    """Return numbers, with columns of the same deviation if they are to be scaled.

    Parameters
    ----------
    values : array of shape (n, q)
        The numbers.
    scale : bool, optional
        Whether to scale. By default, if deviations differ more than tenfold.

    Returns
    -------
    array of shape (n, q)
        The same array, if it is not scaled.
    bool
        Whether it is.

    Examples
    --------
    >>> scale_columns(np.array([[1.0, 100.0], [-1.0, 300.0]]))[0]
    array([[ 1.,  1.],
           [-1.,  3.]])
    """
    deviations = values.std(axis=0)
    varying = deviations[deviations > 0]
    if scale is None:
        scale = bool(len(varying) and varying.max() > _MAX_RATIO * varying.min())
    return (values / np.where(deviations > 0, deviations, 1.0) if scale else values), scale


def find_subspace(
    X: Array,
    rows: NumberedRows,
    n_components: Any = "auto",
    dim: int | Literal["auto"] = "auto",
    center: Any = "auto",
) -> Subspace:
    """Return the subspace that the examples lie in.

    Parameters
    ----------
    X : array of shape (n, q)
        The numbers, as `scale_columns` returns them.
    rows : NumberedRows
        Their rows.
    n_components, dim, center
        As `SubspaceSearch` takes them.

    Returns
    -------
    Subspace
    """
    return SubspaceSearch(n_components, dim=dim, center=center).fit(X).search(examples=X[rows.examples])


def describe_subspace(
    found: Subspace, rows: NumberedRows, columns: Sequence[str], membership: Array, n_rows: int = 5
) -> dict[str, Any]:
    """Return a subspace as JSON has it.

    Parameters
    ----------
    found : Subspace
        As `find_subspace` returns it.
    rows : NumberedRows
        The same rows.
    columns : sequence of str
        The names of the columns.
    membership : array of shape (n,)
        Of the rows.
    n_rows : int, default=5
        How many typical rows to show.

    Returns
    -------
    dict
    """
    n, stderr = len(rows.rows), float(found.stderr.weight)
    has_errors = bool(np.isfinite(stderr))  # not if rows that express each other carry the answer

    def show(indices: Array) -> list[dict[str, Any]]:
        return [rows.describe(int(index), membership=float(membership[index])) for index in indices]

    return {
        "like": [rows.describe(int(index)) for index in rows.examples],
        "n_table_rows": rows.table.num_rows,
        "n_rows": n,
        "n_left_out": rows.n_left_out,
        "n_components": len(found.scores),
        "dim": found.basis.shape[1],
        "centered": bool(np.any(found.center)),
        "basis": [
            {"variance": variance, "loadings": dict(zip(columns, axis, strict=True))}
            for variance, axis in zip(found.variances.tolist(), found.basis.T.tolist(), strict=True)
        ],
        "noise": float(np.sqrt(max(found.noise_variance, 0.0))),
        "weight": {"value": float(found.weight), "stderr": stderr if has_errors else None},
        "n_members": count_rows(found.weight, stderr if has_errors else 0.0, n) | ({} if has_errors else _NO_INTERVAL),
        "carried_by": found.carried_by,
        "confidence": found.confidence,
        "verdict": verdict_by_confidence(found.confidence)[0],
        "typical_rows": show(rank_rows(membership, rows, n_rows)),
        "doubtful_rows": show(find_doubtful(membership, min(n_rows, _N_DOUBTFUL))),
    }
