"""Measure how often a search in a table warns about its examples: sets of one class, and sets of two.

Each class of at least twenty rows gives sets of its own rows, and sets with rows of one other class. A warning about
the first is a false alarm, one about the second is right. Choices are made on the development tables.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from labelled_tables import DEVELOPMENT, REPORTED, WITHOUT_FILES, LabelledTable, data_folder
from measuring import print_table

from mixsearch._typing import Array
from mixsearch.errors import SearchWarning
from mixsearch.table.search import TableSearch

# Rows of the class, and of another one.
SETS = ((3, 0), (6, 0), (10, 0), (2, 1), (2, 2), (5, 2), (3, 3))
N_DRAWS, MAX_ROWS = 10, 2000


def _draw(table: LabelledTable, label: str, n: int, n_other: int, rng: np.random.Generator) -> Array:
    other = rng.choice([each for each in table.classes if each != label])
    return np.concatenate(
        [
            rng.choice(np.flatnonzero(table.labels == name), m, replace=False)
            for name, m in ((label, n), (other, n_other))
        ]
    )


def count_warnings(table: LabelledTable, n_draws: int) -> Array:
    """Return which sets of each kind are doubted, (number of sets, kinds)."""
    search = TableSearch().fit(table.X)
    doubted = [
        [_is_warned_about(search, _draw(table, label, *kind, np.random.default_rng((i, draw, *kind)))) for kind in SETS]
        for i, label in enumerate(table.classes)
        for draw in range(n_draws)
    ]
    return np.array(doubted)


def _is_warned_about(search: TableSearch, rows: Array) -> bool:
    """Return whether the examples are doubted; other warnings do not count."""
    return any(warning.code == "examples_disagree" for warning in search.search(rows).warnings)


def run(*, quick: bool = False) -> None:
    warnings.simplefilter("ignore", SearchWarning)
    has_files = (data_folder() / "tables").is_dir()
    rows = []
    for half, tables in {"development": DEVELOPMENT, "reported": REPORTED}.items():
        found = []
        for name, load in tables.items():
            table = load() if has_files or name in WITHOUT_FILES else None
            if table is None or table.only or len(table.X) > MAX_ROWS:
                continue
            found.append(count_warnings(table, 2 if quick else N_DRAWS))
            rows.append((name, *(f"{share:.2f}" for share in found[-1].mean(axis=0))))
        together = np.concatenate(found)
        rows.append(
            (f"{half}, {len(together)} sets of each kind", *(f"{share:.3f}" for share in together.mean(axis=0)))
        )
    names = [f"{n} + {other}" if other else str(n) for n, other in SETS]
    print_table("Share of sets of examples that are doubted", ("rows of one class + of another", *names), rows)


if __name__ == "__main__":
    run(quick="--quick" in sys.argv)
