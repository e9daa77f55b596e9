"""Rows and columns of a table as users name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import typer

from mixsearch._typing import Array
from mixsearch.table.rows import find_rows
from mixsearch.table.tables import get_values


def parse_rows(table: Any, typed: Sequence[str], id: str | None) -> Array:
    """Return the positions of rows from their numbers or ids, in the order in which they were typed."""
    if id is not None:
        return find_rows(get_values(table, id), typed)
    wrong = next((each for each in typed if not each.lstrip("+-").isdecimal()), None)
    if wrong is not None:
        raise typer.BadParameter(f"{wrong!r} is not the number of a row. If it is an id, name its column with --id.")
    negative = next((each for each in typed if int(each) < 0), None)
    if negative is not None:
        raise typer.BadParameter(f"Numbers of rows start at 0, got {negative}.")
    return np.array([int(each) for each in typed], dtype=np.intp)
