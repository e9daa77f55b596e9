"""The number of members found divided by the true number, in generated tables of two sizes.

Tables of 10,000 rows have all of them as nodes; of 100,000 rows, 10,000 are, and every other row has the nearest one.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
from measuring import print_table
from sklearn.datasets import make_moons

from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import SearchWarning
from mixsearch.table.search import TableSearch

N_ROWS, N_EXAMPLES, N_DRAWS = (10_000, 100_000), (1, 3, 10), 4
Draw = Callable[[int], tuple[Array, Array]]


def draw_gaussians(n: int) -> tuple[Array, Array]:
    data = make_gaussian_mixture(n, 10, 6, deviation=0.5, random_state=0)
    return data.X, data.labels


def draw_heavy_tails(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=n)
    return 4 * rng.normal(size=(4, 6))[labels] + rng.standard_t(3, size=(n, 6)), labels


def draw_moons(n: int) -> tuple[Array, Array]:
    X, labels = make_moons(n, noise=0.08, random_state=0)
    return X, labels


def draw_rare(n: int) -> tuple[Array, Array]:
    """A blob of a two hundredth of the rows at the edge of a cloud. It alone is searched."""
    rng = np.random.default_rng(0)
    X, is_rare = rng.normal(size=(n, 8)), rng.random(n) < 0.005
    X[is_rare] = 3 + 0.4 * X[is_rare]
    return X, np.where(is_rare, 0, -1)


TABLES: dict[str, Draw] = {
    "six Gaussians": draw_gaussians,
    "four with heavy tails": draw_heavy_tails,
    "two moons": draw_moons,
    "a rare blob": draw_rare,
}


def ratios(X: Array, labels: Array, n_examples: int, search: TableSearch) -> Array:
    """Return the number of members found over the true one, for some sets of examples of each component."""
    found = []
    for label in np.unique(labels[labels >= 0])[:4]:
        members = np.flatnonzero(labels == label)
        for draw in range(N_DRAWS):
            rows = np.random.default_rng((draw, n_examples)).choice(members, n_examples, replace=False)
            found.append(search.search(rows).n_members.n / len(members))
    return np.array(found)


def run(*, quick: bool = False) -> None:
    warnings.simplefilter("ignore", SearchWarning)
    rows = []
    for name, draw in TABLES.items():
        for n in N_ROWS[: 1 if quick else None]:
            X, labels = draw(n)
            search = TableSearch().fit(X)
            cells = [ratios(X, labels, n_examples, search) for n_examples in N_EXAMPLES]
            rows.append((f"{name}, {n:,} rows", *(f"{np.median(each):.2f} ({each.min():.2f})" for each in cells)))
    names = [f"{n} example{'s'[: n > 1]}" for n in N_EXAMPLES]
    print_table("Members found / true: median (least)", ("", *names), rows)


if __name__ == "__main__":
    run(quick="--quick" in sys.argv)
