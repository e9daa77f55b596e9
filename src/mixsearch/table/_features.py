"""Encode and decode one column: numbers, dates and vectors are scaled, categories become indicators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.table._columns import Column, Kind

MISSING = "missing"

# A row with a missing value is two standard deviations from one without, however rare: not an outlier for that alone.
_INDICATOR_SCALE = 2.0
# The standard deviation of the noise that hides from a mixture of Gaussians that indicators have two values only, as a
# part of the distance between them. Otherwise each category would be a component.
_JITTER = 0.5


@dataclass(frozen=True, slots=True)
class NumberFeatures:
    """A column of numbers or dates: one standardised feature, and one that marks missing values if there are many."""

    name: str
    kind: Kind
    is_whole: bool
    limits: tuple[float, float]
    median: float  # in place of missing values
    center: float
    scale: float  # units of the column in one of the feature
    missing_share: float | None  # None: not a feature
    from_text: bool = False  # whether the column is text, nearly all of it numbers

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return (self.name,) if self.missing_share is None else (self.name, f"{self.name} {MISSING}")

    @property
    def jitter(self) -> list[float]:
        """The standard deviation of the noise of each feature for a mixture: none for numbers."""
        return [0.0] if self.missing_share is None else [0.0, _JITTER * _INDICATOR_SCALE]

    def prepare(self, column: Column) -> Array:
        """Return the values that `write` takes."""
        return column.values

    def write(self, values: Array, out: Array) -> None:
        """Write the features of some rows, (n, 1 or 2)."""
        numbers = values.astype(np.float64, copy=False)
        present = np.isfinite(numbers)
        clipped = np.clip(np.where(present, numbers, self.median), *self.limits)
        out[:, 0] = (clipped - self.center) / self.scale
        if self.missing_share is not None:
            out[:, 1] = _INDICATOR_SCALE * (~present - self.missing_share)

    def to_units(self, features: Array) -> Any:
        """Return the number or the date of a point."""
        value = self.center + self.scale * float(features[0])
        return _to_date(value, self.is_whole) if self.kind == "date" else value


@dataclass(frozen=True, slots=True)
class CategoryFeatures:
    """A column of categories: an indicator for each, centered, with a total variance of 1."""

    name: str
    levels: tuple[str | None, ...]  # None: missing
    shares: Array  # of the levels
    scale: float
    kind: Kind = "category"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(f"{self.name} {MISSING}" if each is None else f"{self.name}={each}" for each in self.levels)

    @property
    def jitter(self) -> list[float]:
        """The standard deviation of the noise of each feature for a mixture."""
        return [_JITTER * self.scale] * len(self.levels)

    def prepare(self, column: Column) -> Array:
        """Return the index of each row's level, and their number for a level that the fit did not have."""
        unknown = len(self.levels)
        index = {level: i for i, level in enumerate(self.levels)}
        # The last entry is for missing values, which have the code -1.
        codes = np.array([index.get(level, unknown) for level in (*column.levels, None)])
        return codes[np.full(len(column.values), -1) if column.kind == "empty" else column.values]

    def write(self, values: Array, out: Array) -> None:
        """Write the features of some rows, (n, number of levels); zeros, the mean, for an unknown level."""
        rows = np.vstack([np.eye(len(self.levels)) - self.shares, np.zeros(len(self.levels))])
        out[:] = (self.scale * rows)[values]

    def to_units(self, features: Array) -> dict[str, float]:
        """Return the share of each category at a point, largest first."""
        shares = np.clip(features / self.scale + self.shares, 0, 1)
        shares = shares / max(shares.sum(), np.finfo(float).tiny)
        order = np.argsort(-shares, kind="stable")
        return {MISSING if self.levels[i] is None else str(self.levels[i]): float(shares[i]) for i in order}


@dataclass(frozen=True, slots=True)
class VectorFeatures:
    """A column of vectors, such as embeddings: centered, on one scale, with an average variance of 1."""

    name: str
    center: Array  # (m,)
    scale: float
    kind: Kind = "vector"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(f"{self.name}[{i}]" for i in range(len(self.center)))

    @property
    def jitter(self) -> list[float]:
        """The standard deviation of the noise of each feature for a mixture: none for vectors."""
        return [0.0] * len(self.center)

    def prepare(self, column: Column) -> Array:
        """Return the values that `write` takes."""
        if column.kind == "empty":
            return np.full((len(column.values), len(self.center)), np.nan)
        self.check_length(column.values.shape[1])
        return column.values

    def check_length(self, length: int) -> None:
        """Raise an error if vectors are of another length than those of the fit."""
        if length != len(self.center):
            raise SearchError(
                "The vectors of {column!r} have {expected} numbers, but {found} were given. Use the embedder that made "
                "them.",
                code="other_dimension",
                column=self.name,
                expected=len(self.center),
                found=length,
            )

    def write(self, values: Array, out: Array) -> None:
        """Write the features of some rows, (n, m); zeros, the mean, for a missing vector."""
        out[:] = np.nan_to_num((values - self.center) / self.scale, nan=0.0, posinf=0.0, neginf=0.0)

    def to_units(self, features: Array) -> list[float]:
        """Return the vector of a point."""
        return list(map(float, self.center + self.scale * features))


Features = NumberFeatures | CategoryFeatures | VectorFeatures


def _to_date(days: float, is_whole: bool) -> date:
    """Return the date, or the date and time in UTC, of a number of days since 1970."""
    moment: date = (np.datetime64(round(days), "D") if is_whole else np.datetime64(round(days * 86_400), "s")).item()
    return moment
