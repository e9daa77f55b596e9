"""Partitions whose samples are not here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

from mixsearch.data.chunks import Sums
from mixsearch.data.partitions.base import Partitions, S, T
from mixsearch.data.partitions.local import LocalPartitions
from mixsearch.errors import SearchError


class DetachedPartitions(Partitions[S]):
    """Stand-in for the samples of a fit that was pickled without them. Every operation on the rows raises an error."""

    def _refuse(self) -> NoReturn:
        raise SearchError(
            "The {n_samples:,} samples of this fit are not here: it was pickled without them. It can still score and "
            "transform other samples. To search again, fit again.",
            code="samples_detached",
            n_samples=self.n_rows,
        )

    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Raise an error."""
        self._refuse()

    def map(self, change: Callable[..., T], *shared: Any) -> Partitions[T]:
        """Raise an error."""
        self._refuse()

    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[Partitions[T], Sums]:
        """Raise an error."""
        self._refuse()

    def persist(self) -> Self:
        """Return the stand-in."""
        return self

    def collect(self) -> LocalPartitions[S]:
        """Raise an error."""
        self._refuse()
