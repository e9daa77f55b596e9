"""Shards as a cluster has them, without one: several pieces, and functions that travel as bytes."""

from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any

import cloudpickle
import scipy.sparse as sp

from mixsearch.blocks import add_sums
from mixsearch.shards import Layout, LocalShards, SampleShard, Shards


@dataclass(frozen=True)
class Pieces(Shards[Any]):
    """Shards in one process, each changed and summed by itself."""

    pieces: tuple[Any, ...]

    def fold(self, summarize, *shared):
        summarize, shared = _travelled(summarize, shared)
        return reduce(add_sums, [summarize(piece, *shared) for piece in self.pieces])

    def map(self, change, *shared):
        change, shared = _travelled(change, shared)
        return replace(self, pieces=tuple(change(piece, *shared) for piece in self.pieces))

    def advance(self, step, *shared):
        step, shared = _travelled(step, shared)
        results = [step(piece, *shared) for piece in self.pieces]
        return replace(self, pieces=tuple(piece for piece, _ in results)), reduce(
            add_sums, [sums for _, sums in results]
        )

    def keep(self):
        return self

    def gather(self):
        whole = type(self.pieces[0]).joined(list(self.pieces))
        return LocalShards(self.layout, whole)

    def __getstate__(self):
        raise TypeError("Shards stay where they are: a function took them along.")


def _travelled(function, shared):
    return cloudpickle.loads(cloudpickle.dumps((function, shared)))


def in_pieces(X, cuts, responses=None):
    """Samples cut before these rows; the same row twice makes an empty piece."""
    n, d = X.shape
    pieces = [
        SampleShard(start, X[start:stop], None if responses is None else responses[start:stop])
        for start, stop in pairwise([0, *cuts, n])
    ]
    return Pieces(Layout(n, d, X.dtype, sp.issparse(X)), tuple(pieces))
