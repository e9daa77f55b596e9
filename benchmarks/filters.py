"""Measure the time of filters on a million rows."""

from __future__ import annotations

import numpy as np
import polars as pl
from measuring import measure, print_table, seconds, verdict

from mixsearch.io.filters import Filter

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


def make_frame(n_rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    price = rng.random(n_rows)
    price[rng.random(n_rows) < 0.05] = np.nan
    words = np.array(["bad service", "good food", "nice view", "slow service"])
    titles = np.char.add(np.char.add(words[rng.integers(0, 4, n_rows)], ", "), words[rng.integers(0, 4, n_rows)])
    stars = pl.Series(rng.integers(1, 6, n_rows))
    return pl.DataFrame(
        {
            "stars": stars.set(pl.Series(rng.random(n_rows) < 0.05), None),
            "price": price,
            "date": pl.Series(rng.integers(18_000, 20_000, n_rows)).cast(pl.Int32).cast(pl.Date),
            "shop": np.array(["Rome", "Oslo", "Bern"])[rng.integers(0, 3, n_rows)],
            "title": titles,
        }
    )


def run(*, quick: bool = False) -> None:
    """Time each filter, from its text to the mask."""
    frame = make_frame(N_ROWS // 10 if quick else N_ROWS)
    spent = {text: measure(lambda text=text: Filter(text).mask(frame)).seconds for text in FILTERS}
    rows = [(f"`{text}`", seconds(value)) for text, value in spent.items()]
    print_table(f"Filters on {len(frame):,} rows, from text to mask", ("filter", "time"), rows)
    print()
    print(verdict("two numeric comparisons", 1000 * spent[TWO_NUMBERS], 1000 * MAX_SECONDS, " ms"))


if __name__ == "__main__":
    run()
