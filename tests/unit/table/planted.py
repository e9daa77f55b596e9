"""A table with three groups that differ in numbers, a category and a date; it also has ids and a constant."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from mixsearch._typing import Array

N_ROWS, N_GROUPS = 150, 3
WEIGHTS = (62.0, 80.0, 98.0)  # kg, the mean of each group
WARDS = ("north", "south", "west")


def group_of_row() -> Array:
    return np.arange(N_ROWS) % N_GROUPS


def make_patients() -> pa.Table:
    rng, groups = np.random.default_rng(0), group_of_row()
    admitted = [date(2024, 1, 1) + timedelta(days=int(100 * group + rng.integers(20))) for group in groups]
    return pa.table(
        {
            "patient": [f"P-{row}" for row in range(N_ROWS)],
            "weight (kg)": np.array(WEIGHTS)[groups] + rng.normal(size=N_ROWS),
            "age": 30.0 + 15 * groups + 2 * rng.normal(size=N_ROWS),
            "ward": np.array(WARDS)[groups],
            "admitted": admitted,
            "country": ["Norway"] * N_ROWS,
        }
    )
