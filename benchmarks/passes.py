"""Count the passes over Dask arrays that each operation takes: each is a round trip."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from measuring import print_table

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch.core.dask import DaskChunks
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces, make_topics

QUESTIONS = ("fit", "search", "error bars", "lead interval", "first refined search", "a further one", "its error bars")


def run(*, quick: bool = False) -> None:
    n = 2000 if quick else 5000
    counted = {name: _counting(name) for name in ("gather", "sum", "map")}
    with (
        warnings.catch_warnings(),
        dask.config.set(scheduler="synchronous"),
        patch.multiple(DaskChunks, **counted),
    ):
        warnings.simplefilter("ignore")
        columns = {"Gaussians": _gaussians(n), "regressions": _regressions(n), "subspaces": _subspaces(n)}
        columns |= {"topics, LDA": _topics(n)}
    rows = [(question, *(str(passes[i]) for passes in columns.values())) for i, question in enumerate(QUESTIONS)]
    print_table("Passes over the samples, likelihood steps among them", ("", *columns), rows)


def _ask(fit: Callable[[], Any], *hints: Any, **how: Any) -> list[int]:
    """The passes of each question, for two hints."""
    passes, answers = [], []

    def count(work: Callable[[], Any]) -> None:
        before = _PASSES.total()
        answers.append(work())
        passes.append(_PASSES.total() - before)

    count(fit)
    search = answers[0]
    count(lambda: search.search(hints[0], refine=False, **how))
    found = answers[1]
    count(lambda: found.stderr)
    count(lambda: found.p_first)
    for hint in hints[:2]:
        count(lambda hint=hint: search.search(hint, refine=True, **how))
    count(lambda: answers[-1].stderr)
    return passes


def _gaussians(n: int) -> list[int]:
    data = make_gaussian_mixture(n, 50, 5, random_state=0)
    return _ask(lambda: GaussianSearch(5).fit(_cut(data.X)), *data.centers[:2])


def _regressions(n: int) -> list[int]:
    data = make_mixed_regression(n, 8, 3, random_state=0)
    return _ask(lambda: RegressionSearch(3).fit(_cut(data.X), data.y), *data.centers[:2])


def _subspaces(n: int) -> list[int]:
    data = make_subspaces(n, 40, 4, dim=2, random_state=0)
    return _ask(lambda: SubspaceSearch(4, dim=2).fit(_cut(data.X)), *data.X[:2])


def _topics(n: int) -> list[int]:
    data = make_topics(n, 500, 6, mean_length=60, random_state=0)
    search = LdaSearch(6, alpha0=float(data.alpha.sum()))
    counts = _cut(sp.csr_array(data.counts, dtype=np.float64))
    return _ask(lambda: search.fit(counts, vocabulary=data.vocabulary), *data.topics[:2])


def _cut(X: Any) -> da.Array:
    middle = X.shape[0] // 2
    halves = [(X[:middle], middle), (X[middle:], X.shape[0] - middle)]
    return da.concatenate([da.from_delayed(dask.delayed(half), (n, X.shape[1]), float) for half, n in halves])


_PASSES: Counter[str] = Counter()


def _counting(name: str) -> Callable[..., Any]:
    plain = getattr(DaskChunks, name)

    def counting(self: Any, *arguments: Any) -> Any:
        _PASSES[name] += 1
        return plain(self, *arguments)

    return counting
