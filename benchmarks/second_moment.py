"""Up to which dimension the d x d array beats the operator, and how the block solver compares with SciPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any
from unittest.mock import patch

import numpy as np
from measuring import N_THREADS, Measured, measure, measure_together, megabytes, print_table, ratio, seconds
from mixsearch.topics.old_lda import BLOCK
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg
from threadpoolctl import threadpool_limits
from workloads import newsgroups_workload, sparse_workload

from mixsearch import TopicSearch
from mixsearch._typing import Array, Samples
from mixsearch.core import moments as paths
from mixsearch.core.eigen import Eigenpairs, top_eigenpairs
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.lda import TUNING
from mixsearch.topics import fit as topics_model

BLOCK = TUNING.block

ARRAY, OPERATOR = 10**9, 0
# A deviation of .5 leaves a wide gap after the k-th eigenvalue, one of 3 next to none.
DEVIATIONS = (0.5, 3.0)


def run(*, quick: bool = False) -> None:
    with threadpool_limits(N_THREADS):
        _compare_dense(quick)
        _compare_sparse(quick)
        _compare_solvers(quick)


def _compare_dense(quick: bool) -> None:
    n, dimensions = (2_000, (250, 500, 1000)) if quick else (10_000, (250, 500, 1000, 2000, 4000))
    for deviation in DEVIATIONS:
        # Without a gap the largest dimension takes minutes, and the crossing lies below it.
        tried = dimensions if deviation == DEVIATIONS[0] else [d for d in dimensions if d <= 2000]
        samples = (make_gaussian_mixture(n, d, 10, deviation=deviation, random_state=0).X for d in tried)
        _print_crossing(f"Dense X, n={n:,}, k=10, σ={deviation}", "DENSE_LIMIT", samples, 10)


def _compare_sparse(quick: bool) -> None:
    n, dimensions = (4_000, (100, 300, 1000)) if quick else (20_000, (100, 300, 1000, 3000))
    samples = (sparse_workload(n, d, per_row=50, n_groups=20) for d in dimensions)
    _print_crossing(f"Sparse X, n={n:,}, 50 non-zeros a row, k=20", "SPARSE_LIMIT", samples, 20)


def _print_crossing(title: str, limit: str, samples: Iterable[Samples], k: int) -> None:
    rows, array_wins, operator_wins = [], [], []
    for X in samples:
        d = X.shape[1]
        array, operator = _eigenpairs_by_both(X, k).values()
        (array_wins if array.seconds <= operator.seconds else operator_wins).append(d)
        rows.append(
            (
                f"{d:,}",
                seconds(array.seconds),
                seconds(operator.seconds),
                ratio(array.seconds / operator.seconds),
                str(operator.result.n_applications),
                megabytes(array.peak),
                megabytes(operator.peak),
            )
        )
    columns = ("d", "array", "operator", "array / operator", "applications", "array, peak", "operator, peak")
    print_table(title, columns, rows)
    print(f"\n- {_supported(limit, array_wins, operator_wins)}; now {getattr(paths, limit):,}")


def _supported(limit: str, array_wins: list[int], operator_wins: list[int]) -> str:
    """Return which limits give every case its faster path."""
    if not operator_wins:
        return f"supports {limit} of at least {max(array_wins):,}"
    if not array_wins:
        return f"supports {limit} below {min(operator_wins):,}"
    if max(array_wins) < min(operator_wins):
        return f"supports {limit} from {max(array_wins):,} to below {min(operator_wins):,}"
    return f"no clean crossing for {limit}: the array wins at {array_wins}, the operator at {operator_wins}"


def _eigenpairs_by_both(X: Samples, k: int) -> dict[str, Measured]:
    weights = np.full(X.shape[0], 1 / X.shape[0])

    def work(limit: int) -> Eigenpairs:
        # The dense limit also stops at n, but no case here has d > n.
        with patch.multiple(paths, DENSE_LIMIT=limit, SPARSE_LIMIT=limit):
            second = paths.second_moment(X, weights)
        with paths.blas_threads_for(X):
            return top_eigenpairs(second, k)

    return measure_together(
        {"array": lambda: work(ARRAY), "operator": lambda: work(OPERATOR)}, 4 if X.shape[1] <= 1000 else 1
    )


def _compare_solvers(quick: bool) -> None:
    operator, k = _topics_operator(quick)
    start = np.random.default_rng(0).standard_normal((operator.shape[0], k))
    # lobpcg stops at an absolute residual; the last eigenvalue makes it one that suits all.
    last = eigsh(operator, k, which="LA", v0=start[:, 0], return_eigenvectors=False).min()
    rows, base = [], 1.0
    for tol in (1e-3, 1e-6):
        solvers: dict[str, Callable[[LinearOperator], tuple[Array, Array]]] = {
            "block Lanczos": lambda A, tol=tol: top_eigenpairs(A, k, tol=tol)[:2],
            "block Lanczos, narrow": lambda A, tol=tol: top_eigenpairs(A, k, tol=tol, block=BLOCK)[:2],
            "eigsh": lambda A, tol=tol: eigsh(A, k, which="LA", tol=tol, v0=start[:, 0]),
            "lobpcg": lambda A, tol=tol: lobpcg(A, start, tol=tol * last, maxiter=60),
        }
        for name, solve in solvers.items():
            cost, passes, columns = _count_passes(operator, solve)
            base = cost.seconds if name == "block Lanczos" else base
            rows.append(
                (
                    f"{name}, tolerance {tol:g}",
                    seconds(cost.seconds),
                    ratio(cost.seconds / base),
                    str(passes),
                    str(columns),
                    f"{_worst_residual(operator, *cost.result):.1e}",
                    megabytes(cost.peak),
                )
            )
    columns = ("solver", "time", "ratio", "passes", "columns", "worst residual", "peak memory")
    print_table(f"Solvers on the topics' operator, d={operator.shape[0]:,}, k={k}", columns, rows)


def _topics_operator(quick: bool) -> tuple[LinearOperator, int]:
    """The operator that a fit of topics decomposes, and how many pairs it asks for."""
    seen: list[Any] = []

    def record(matrix: Any, n_pairs: int, **options: Any) -> Eigenpairs:
        seen.append((matrix, n_pairs))
        return top_eigenpairs(matrix, n_pairs, **options)

    with patch.object(topics_model, "top_eigenpairs", record):
        TopicSearch(50).fit(newsgroups_workload(quick=quick))
    return seen[0]


def _count_passes(
    operator: LinearOperator, solve: Callable[[LinearOperator], tuple[Array, Array]]
) -> tuple[Measured, int, int]:
    """Cost, passes over the counts, and columns multiplied in them, of one solve."""
    widths: list[int] = []

    def apply(block: Array) -> Array:
        widths.append(block.shape[1] if block.ndim == 2 else 1)
        return operator @ block

    counted = LinearOperator(operator.shape, matvec=apply, matmat=apply, dtype=operator.dtype)
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        # lobpcg says so when it stops short of its tolerance; the residuals in the table show it.
        warnings.simplefilter("ignore", UserWarning)
        cost = measure(lambda: solve(counted), 2)
        widths.clear()
        solve(counted)
    return cost, len(widths), sum(widths)


def _worst_residual(operator: LinearOperator, values: Array, vectors: Array) -> float:
    """The largest |A y - θ y| / θ."""
    return float(np.max(np.linalg.norm(operator @ vectors - vectors * values, axis=0) / np.abs(values)))


if __name__ == "__main__":
    run()
