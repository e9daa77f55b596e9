"""Rows in chunks: sums, slices and searches are those of all rows at once."""

from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.coded import raises
from tests.split_samples import split_samples

from mixsearch import SubspaceSearch
from mixsearch.core import rows as chunks
from mixsearch.core.rows import chunk_in_memory, even_slices, leave_one_out, split_rows, sum_chunks
from mixsearch.datasets import make_subspaces
from mixsearch.machine import OneBlasThread

CUTS = [(), (1,), (3, 3, 4, 70), (10, 41, 41, 42, 90)]


def total(chunk):
    return chunk.samples.sum(axis=0)


def total_of(chunk, rows, factor):
    return factor * chunk.samples[rows].sum(axis=0)


@pytest.mark.parametrize("cuts", CUTS)
def test_sums_over_pieces_are_those_over_all_rows(cuts):
    X = np.random.default_rng(0).normal(size=(100, 3))
    pieces = split_samples(X, cuts)
    assert_allclose(pieces.sum(total), X.sum(axis=0))
    assert_allclose(pieces.chunk.samples, X)
    for step in (1, 2, 7, 99):
        assert_allclose(pieces.thin(step).chunk.samples, X[::step])
        assert pieces.thin(step).n_rows == len(X[::step])
    assert_allclose(pieces.thin(3).thin(4).chunk.samples, X[::12])
    for rows in ([], [0], [2, 3, 41, 98, 99]):
        taken, left = pieces.take_rows(np.array(rows, dtype=int)), pieces.drop_rows(np.array(rows, dtype=int))
        assert_allclose(taken.chunk.samples, X[rows])
        assert_allclose(left.thin(3).chunk.samples, np.delete(X, rows, axis=0)[::3])
        assert (taken.n_rows, left.n_rows) == (len(rows), 100 - len(rows))
    for block, without in enumerate(leave_one_out(pieces, total_of, 2.0)):
        assert_allclose(without, 2 * np.delete(X, np.s_[block::40], axis=0).sum(axis=0))


def test_samples_that_were_not_pickled_have_an_error_of_their_own():
    detached = chunk_in_memory(np.zeros((1234, 2))).detach()
    with raises("samples_detached", n_samples=1234) as caught:
        detached.sum(total)
    assert (caught.value.code, caught.value.fields) == ("samples_detached", {"n_samples": 1234})


def fit_pieces(search, X, cuts, monkeypatch, y=None):
    monkeypatch.setattr(search, "_check_chunks", lambda X: split_samples(np.asarray(X), cuts))
    search.n_features_in_ = X.shape[1]
    return search.fit(X, y)


def assert_same_subspace(one, many):
    assert_allclose(one.basis, many.basis, atol=1e-9)
    assert_allclose(one.variances, many.variances, rtol=1e-9)
    assert_allclose([one.weight, one.noise_variance], [many.weight, many.noise_variance], rtol=1e-9)
    # Responsibilities have single precision.
    assert_allclose(one.stderr.basis, many.stderr.basis, rtol=1e-5, atol=1e-12)
    assert one.stderr.weight == pytest.approx(many.stderr.weight, rel=1e-5)
    assert one.p_first == pytest.approx(many.p_first, abs=1e-6)


@pytest.mark.parametrize("cuts", [(1,), (5, 5, 700, 701)])
@pytest.mark.parametrize("noise", ["default", "paper"])
@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning", "ignore::mixsearch.errors.UnlikelyMixtureWarning")
def test_subspaces_in_pieces_are_those_of_all_rows(noise, cuts, monkeypatch):
    data = make_subspaces(1500, 12, 3, dim=2, deviation=0.2, random_state=0)
    hint = data.bases[1] @ [1, 1]
    whole = SubspaceSearch(3, dim=2, preset=noise).fit(data.X)
    pieces = fit_pieces(SubspaceSearch(3, dim=2, preset=noise), data.X, cuts, monkeypatch)
    one, many = (fitted.search(hint, refine=True) for fitted in (whole, pieces))
    assert_same_subspace(one, many)
    assert_same_subspace(one.moment_estimate, many.moment_estimate)


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
