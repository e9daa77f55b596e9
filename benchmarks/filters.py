"""Measure the time of filters on a million rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from measuring import measure, print_table, seconds, verdict

from mixsearch.data.filters.parser import parse_filter

N_ROWS = 1_000_000
MAX_SECONDS = 0.02
TWO_NUMBERS = "stars <= 2 and price >= 0.5"
FILTERS = (
    TWO_NUMBERS,
    "stars <= 2 and date >= 2024-01-01",
    "date between 2023-01 and 2023-06",
    'shop in ("Rome", "Oslo")',
    "not (stars = 1 or price < 0.5) and price is not missing",
    'shop contains "o"',
    'title = "bad service, good food"',
    'title contains "SERVICE"',
)


def make_table(n_rows: int) -> pa.Table:
    rng = np.random.default_rng(0)
    price = rng.random(n_rows)
    price[rng.random(n_rows) < 0.05] = np.nan
    words = np.array(["bad service", "good food", "nice view", "slow service"])
    titles = np.char.add(np.char.add(words[rng.integers(0, 4, n_rows)], ", "), words[rng.integers(0, 4, n_rows)])
    return pa.table(
        {
            "stars": pa.array(rng.integers(1, 6, n_rows), mask=rng.random(n_rows) < 0.05),
            "price": price,
            "date": pa.array(rng.integers(18_000, 20_000, n_rows).astype(np.int32)).cast(pa.date32()),
            "shop": pa.array(np.array(["Rome", "Oslo", "Bern"])[rng.integers(0, 3, n_rows)]).dictionary_encode(),
            "title": titles,
        }
    )


def run(*, quick: bool = False) -> None:
    """Time each filter, from its text to the mask."""
    table = make_table(N_ROWS // 10 if quick else N_ROWS)
    spent = {text: measure(lambda text=text: parse_filter(text).mask(table)).seconds for text in FILTERS}
    rows = [(f"`{text}`", seconds(value)) for text, value in spent.items()]
    print_table(f"Filters on {table.num_rows:,} rows, from text to mask", ("filter", "time"), rows)
    print()
    print(verdict("two numeric comparisons", 1000 * spent[TWO_NUMBERS], 1000 * MAX_SECONDS, " ms"))


if __name__ == "__main__":
    run()
