from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mixsearch.core import rows as chunks
from mixsearch.core.rows import even_slices, split_rows, sum_chunks
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


@given(lengths=row_lengths, seed=st.integers(0, 99), size=chunk_sizes)
def test_pieces_of_sparse_rows_are_all_rows_without_a_copy(lengths, seed, size):
    rng = np.random.default_rng(seed)
    X = sp.csr_array(np.array([rng.poisson(min(length, 9) / 10, size=6) for length in lengths], dtype=float))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_NONZEROS", size)
        pieces = split_rows(X)
    assert [row for rows, _ in pieces for row in range(rows.start, rows.stop)] == list(range(len(lengths)))
    for rows, piece in pieces:
        assert rows.stop > rows.start
        assert_array_equal(piece.toarray(), X.toarray()[rows])
        assert not piece.nnz or np.shares_memory(piece.data, X.data)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_sums_over_pieces_are_those_over_all_rows_with_any_number_of_threads(n_threads, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_NONZEROS", 50)
    X = sp.csr_array(np.random.default_rng(0).poisson(0.9, size=(200, 6)).astype(float))
    pieces = split_rows(X)
    assert len(pieces) > 3
    assert_array_equal(sum_chunks(lambda piece: piece[1].sum(axis=0), pieces, n_threads), X.toarray().sum(axis=0))
