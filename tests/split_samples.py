"""Samples in several chunks of one process, with functions that are pickled on the way, as on a cluster."""

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import cloudpickle

from mixsearch.core.rows import N_GROUPS, Chunks, chunk_in_memory


@dataclass(frozen=True, eq=False)
class PickledChunks(Chunks[Any]):
    """Chunks that receive only what can be pickled, and cannot be pickled themselves."""

    def gather(self, function):
        return super().gather(cloudpickle.loads(cloudpickle.dumps(function)))

    def map(self, change, *shared):
        return replace(self, pieces=super().map(change, *shared).pieces)

    def __getstate__(self):
        raise TypeError("Chunks stay on their workers, but a function holds them.")


def jackknife_slices(n_rows):
    """Return the rows of each jackknife group."""
    n_groups = min(N_GROUPS, n_rows)
    return [slice(first, n_rows, n_groups) for first in range(n_groups)]


def split_samples(X, cuts, responses=None):
    """Split samples before these rows; a row that is given twice makes an empty chunk."""
    return split_chunk(chunk_in_memory(X, responses), cuts)


def split_chunk(chunks, cuts):
    """Split samples in one chunk before these rows."""
    whole = chunks.chunk
    names = [field.name for field in fields(whole) if field.name != "first"]
    columns = {name: getattr(whole, name) for name in names if getattr(whole, name) is not None}
    parts = [
        replace(whole, first=start, **{name: column[start:stop] for name, column in columns.items()})
        for start, stop in pairwise([0, *cuts, chunks.n_rows])
    ]
    return PickledChunks(chunks.layout, tuple(parts))
