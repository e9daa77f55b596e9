"""What distinguishes the members of a table: each column among the members and among the other rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.table.columns import Column, days_to_date

# Values are missing more or less often among members if the difference is this many standard errors, and this share.
MIN_DEVIATIONS, MIN_SHARE = 2.0, 0.05


class ColumnDifference(NamedTuple):
    """A column among the members, compared with the other rows: only values that are there count.

    Attributes
    ----------
    column : str
        The name of the column.
    members, others : float, date or dict from str to float
        The mean, or the fraction of each category, those of members with the largest first.
    stderr : float or None
        The standard error of the mean of the members, in days for dates; None for categories.
    effect : float
        The difference in standard deviations of all rows.
    missing, missing_others : float
        The fraction of values that are missing.
    """

    column: str
    members: Any
    others: Any
    stderr: float | None
    effect: float
    missing: float
    missing_others: float

    def __str__(self) -> str:
        return f"{self.column} missing in {self.missing:.0%}, elsewhere {self.missing_others:.0%}"


def compare_column(name: str, column: Column, membership: Array) -> ColumnDifference | None:
    """Compare members with other rows, both weighted by membership; None if one of them has no value."""
    present = ~column.missing
    weights, values = np.stack([membership, 1 - membership], axis=1), column.values
    missing = ~present @ weights / np.maximum(weights.sum(axis=0), 1e-9)
    weights = weights[present]
    sizes = weights.sum(axis=0)
    if column.kind not in ("number", "date", "category") or sizes.min() < 1e-9:
        return None
    if column.kind == "category":
        k = len(column.levels)
        shares = np.stack([np.bincount(values[present], w, k) for w in weights.T]) / sizes[:, None]
        total = np.bincount(values[present], minlength=k) / present.sum()
        effects = (shares[0] - total) / np.sqrt(np.maximum(total * (1 - total), 1e-9))
        largest = int(np.abs(effects).argmax())
        members, others = (
            {column.levels[i]: float(part[i]) for i in np.argsort(-shares[0], kind="stable") if shares[:, i].any()}
            for part in shares
        )
        first = int(shares[0].argmax())
        effect = float(np.copysign(abs(effects[largest]), shares[0, first] - total[first]))
        return ColumnDifference(name, members, others, None, effect, *map(float, missing))
    numbers = values[present].astype(np.float64)
    means = numbers @ weights / sizes
    deviation = float(numbers.std())
    squares = weights[:, 0] @ (numbers - means[0]) ** 2 / sizes[0]
    stderr = float(np.sqrt(squares * np.sum(weights[:, 0] ** 2)) / sizes[0])
    effect = float((means[0] - numbers.mean()) / deviation) if deviation else 0.0
    units = [days_to_date(mean, column.is_whole) if column.kind == "date" else mean for mean in means.tolist()]
    return ColumnDifference(name, units[0], units[1], stderr, effect, *map(float, missing))


def is_missing_apart(difference: ColumnDifference, n_members: float, n_others: float) -> bool:
    """Return whether values are missing more or less often among members than elsewhere."""
    p, q = difference.missing, difference.missing_others
    share = (p * n_members + q * n_others) / max(n_members + n_others, 1e-9)
    error = np.sqrt(share * (1 - share) * (1 / max(n_members, 1) + 1 / max(n_others, 1)))
    return bool(abs(p - q) > max(MIN_SHARE, MIN_DEVIATIONS * error))
