"""Shards as a cluster has them, without one: several pieces, and functions that travel as bytes."""

from dataclasses import dataclass, fields, replace
from functools import reduce
from itertools import pairwise
from typing import Any

import cloudpickle

from mixsearch.data.chunks import add_sums
from mixsearch.data.partitions import N_GROUPS, LocalPartitions, Partitions, partition_in_memory


@dataclass(frozen=True)
class Pieces(Partitions[Any]):
    """Shards in one process, each changed and summed by itself."""

    pieces: tuple[Any, ...]

    def reduce(self, summarize, *shared):
        summarize, shared = _travelled(summarize, shared)
        return reduce(add_sums, [summarize(piece, *shared) for piece in self.pieces])

    def map(self, change, *shared):
        change, shared = _travelled(change, shared)
        return replace(self, pieces=tuple(change(piece, *shared) for piece in self.pieces))

    def map_reduce(self, step, *shared):
        step, shared = _travelled(step, shared)
        results = [step(piece, *shared) for piece in self.pieces]
        return replace(self, pieces=tuple(piece for piece, _ in results)), reduce(
            add_sums, [sums for _, sums in results]
        )

    def persist(self):
        return self

    def collect(self):
        whole = type(self.pieces[0]).joined(list(self.pieces))
        return LocalPartitions(self.layout, whole)

    def __getstate__(self):
        raise TypeError("Shards stay where they are: a function took them along.")


def _travelled(function, shared):
    return cloudpickle.loads(cloudpickle.dumps((function, shared)))


def jackknife_slices(n_rows):
    """The rows of each block of the jackknife."""
    n_blocks = min(N_GROUPS, n_rows)
    return [slice(first, n_rows, n_blocks) for first in range(n_blocks)]


def in_pieces(X, cuts, responses=None):
    """Samples cut before these rows; the same row twice makes an empty piece."""
    return cut(partition_in_memory(X, responses), cuts)


def cut(partitions, cuts):
    """What is in one shard, cut before these rows."""
    whole = partitions.partition
    names = [field.name for field in fields(whole) if field.name != "first"]
    columns = {name: getattr(whole, name) for name in names if getattr(whole, name) is not None}
    pieces = [
        replace(whole, first=start, **{name: column[start:stop] for name, column in columns.items()})
        for start, stop in pairwise([0, *cuts, partitions.n_rows])
    ]
    return Pieces(partitions.layout, tuple(pieces))
