"""Counts on disk, by rows and by columns, compared with SciPy's."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mixsearch.core import rows as blocks
from mixsearch.core.rows import chunk_rows
from mixsearch.index.build.counts import BYTES_PER_NONZERO, open_rows, transpose_rows

shapes = st.tuples(st.integers(1, 30), st.integers(1, 12))
# A column at a time, a few non-zeros, and all at once.
memories = st.sampled_from([0, 1, 5 * BYTES_PER_NONZERO, 40 * BYTES_PER_NONZERO, 10**9])
block_sizes = st.sampled_from([1, 10, 2_000_000])


def draw(shape, seed, density):
    rng = np.random.default_rng(seed)
    counts = np.where(rng.random(shape) < density, rng.integers(1, 9, size=shape), 0)
    return sp.csr_array(counts.astype(np.float32))


def in_small_blocks(make, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "CHUNK_NONZEROS", size)
        return make()


def from_files(X):
    return open_rows({"data": X.data, "indices": X.indices, "indptr": X.indptr}.__getitem__, X.shape[1])


def per_column(X):
    return np.bincount(X.indices, minlength=X.shape[1])


@given(shape=shapes, seed=st.integers(0, 999), density=st.floats(0, 1), memory=memories, size=block_sizes)
def test_columns_are_those_of_scipy_in_any_memory(shape, seed, density, memory, size):
    X = draw(shape, seed, density)
    rows = in_small_blocks(lambda: chunk_rows(X), size)
    pieces = list(transpose_rows(rows, per_column(X), memory))
    wanted = X.tocsc()
    wanted.sort_indices()
    assert_array_equal(np.concatenate([values for values, _ in pieces]), wanted.data)
    assert_array_equal(np.concatenate([owners for _, owners in pieces]), wanted.indices)


@given(shape=shapes, seed=st.integers(0, 999), density=st.floats(0, 1), memory=memories)
def test_a_piece_fits_the_memory_or_is_one_column(shape, seed, density, memory):
    X = draw(shape, seed, density)
    lengths = [len(values) for values, _ in transpose_rows(chunk_rows(X), per_column(X), memory)]
    assert sum(lengths) == X.nnz
    assert all(n <= max(memory // BYTES_PER_NONZERO, per_column(X).max()) for n in lengths)


@given(shape=shapes, seed=st.integers(0, 999), density=st.floats(0, 1), size=block_sizes)
def test_rows_from_files_are_those_in_memory(shape, seed, density, size):
    X = draw(shape, seed, density)
    disk, memory = in_small_blocks(lambda: (from_files(X), chunk_rows(X)), size)
    assert (disk.slices, disk.shape, disk.n_nonzeros) == (memory.slices, memory.shape, memory.n_nonzeros)
    assert disk.dtype == memory.dtype
    for number, _ in disk.enumerate():
        assert_array_equal(disk.read(number).toarray(), memory.read(number).toarray())
