"""Several columns of texts that follow each other, read like one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from mixsearch.storage.texts import Texts


class JoinedTexts:
    """Columns of texts, one after the other.

    Parameters
    ----------
    columns : sequence of Texts
        The columns, in order.
    """

    def __init__(self, columns: Sequence[Texts]) -> None:
        self._columns = list(columns)
        self._firsts = np.cumsum([0, *map(len, self._columns)])

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def __iter__(self) -> Iterator[str]:
        for column in self._columns:
            yield from column

    def read(self, rows: npt.ArrayLike) -> list[str]:
        """Return the texts of some rows, in the given order.

        Parameters
        ----------
        rows : array of int of shape (n,)
            Indices from 0, in any order, repeated or not.

        Returns
        -------
        list of str
            One per row.
        """
        indices = np.asarray(rows, dtype=np.int64)
        found = [""] * len(indices)
        owners = np.searchsorted(self._firsts, indices, side="right") - 1
        for owner in np.unique(owners).tolist():
            own = np.flatnonzero(owners == owner)
            for i, text in zip(
                own.tolist(), self._columns[owner].read(indices[own] - self._firsts[owner]), strict=True
            ):
                found[i] = text
        return found
