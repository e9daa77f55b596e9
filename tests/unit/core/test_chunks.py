from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mixsearch.core import rows as chunks
from mixsearch.core.rows import chunk_rows, even_slices, split_rows, sum_chunks
from mixsearch.machine import OneBlasThread

row_lengths = st.lists(st.one_of(st.just(0), st.integers(0, 9), st.just(500)), min_size=1, max_size=40)
chunk_sizes = st.sampled_from([1, 7, 100, 2_000_000])


class RecordedPools:
    def __init__(self):
        self.events = []

    @contextmanager
    def limit(self, *, limits, user_api):
        self.events.append(f"{user_api} to {limits}")
        yield
        self.events.append("lifted")


def test_overlapping_users_of_one_blas_thread_set_the_limit_once_and_lift_it_last():
    shared, pools = OneBlasThread(), RecordedPools()
    shared.__dict__["_pools"] = pools
    shared.__enter__()
    shared.__enter__()
    shared.__exit__(None, None, None)
    assert pools.events == ["blas to 1"]
    shared.__exit__(None, None, None)
    assert pools.events == ["blas to 1", "lifted"]
    with shared:
        assert pools.events[-1] == "blas to 1"
    assert pools.events[-1] == "lifted"


@pytest.mark.parametrize(("rows", "parts"), [(10, 3), (2, 5), (7, 7), (0, 2)])
def test_even_slices_cover_every_row_once(rows, parts):
    slices = list(even_slices(rows, parts))
    assert [i for part in slices for i in range(rows)[part]] == list(range(rows))
    assert len(slices) <= parts


@given(lengths=row_lengths, size=chunk_sizes)
def test_rows_are_split_so_that_each_is_in_one_chunk_and_no_chunk_is_empty(lengths, size):
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_NONZEROS", size)
        slices = split_rows(indptr)
    assert [row for part in slices for row in range(part.start, part.stop)] == list(range(len(lengths)))
    assert all(part.stop > part.start for part in slices)


def sparse_rows(lengths, seed):
    rng = np.random.default_rng(seed)
    return sp.csr_array(np.array([rng.poisson(min(length, 9) / 10, size=6) for length in lengths], dtype=float))


@given(lengths=row_lengths, seed=st.integers(0, 99), size=chunk_sizes)
def test_chunks_of_rows_in_memory_are_the_rows_without_a_copy(lengths, seed, size):
    X = sparse_rows(lengths, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_NONZEROS", size)
        rows = chunk_rows(X)
    assert (rows.shape, rows.n_nonzeros, rows.dtype) == (X.shape, X.nnz, X.dtype)
    for index, part in rows.enumerate():
        chunk = rows.read(index)
        assert_array_equal(chunk.toarray(), X.toarray()[part])
        assert not chunk.nnz or np.shares_memory(chunk.data, X.data)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_sums_over_chunks_are_those_over_all_rows_to_the_last_bit_with_any_number_of_threads(n_threads, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_NONZEROS", 50)
    X = sparse_rows(np.full(200, 9), 0)
    rows = chunk_rows(X)
    found = sum_chunks(lambda chunk: rows.read(chunk[0]).sum(axis=0), rows.enumerate(), n_threads)
    assert len(rows.slices) > 3
    assert_array_equal(found, X.toarray().sum(axis=0))
