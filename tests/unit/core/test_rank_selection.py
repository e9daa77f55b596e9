"""Which directions carry signal: compared with loops over samples, and on mixtures of known size."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.split_samples import split_samples

from mixsearch import SubspaceSearch
from mixsearch.core.rows import chunk_in_memory
from mixsearch.core.spectrum import count_directions
from mixsearch.datasets import make_gaussian_mixture, make_subspaces, make_topics
from mixsearch.topics.old_lda import corpus_in_memory, topic_spectrum

OPTIONS = {"alpha0": 1.0, "distinct": True, "weighting": np.ones_like, "metric": 0.25, "seed": 0}


def counts_of(n_documents=1500, n_words=60, n_topics=4, *, seed=0, length=30):
    data = make_topics(n_documents, n_words, n_topics, mean_length=length, alpha=1 / n_topics, random_state=seed)
    return sp.csr_array(data.counts[np.asarray(data.counts.sum(axis=1)) >= 3].astype(float))


def count(chunks):
    mean = chunks.sum(lambda chunk: chunk.samples.sum(axis=0)) / chunks.n_rows
    return count_directions(chunks, np.asarray(mean), 0)


def show_by_hand(second_of, shows, n_samples, n_directions):
    """Return the values of each sample along the eigenvectors of the two other folds, (n, q)."""
    shown = np.zeros((n_samples, n_directions))
    for part in range(3):
        others = [i for i in range(n_samples) if i % 3 != part]
        vectors = np.linalg.eigh(sum(second_of(i) for i in others))[1][:, ::-1][:, :n_directions]
        for i in range(part, n_samples, 3):
            shown[i] = [shows(i, v) for v in vectors.T]
    return shown


def test_held_out_values_of_topics_are_those_of_pairs_of_different_words():
    counts = counts_of(90, 6, 2, length=8)
    dense, (n, d) = counts.toarray(), counts.shape
    spectrum = topic_spectrum(corpus_in_memory(counts), **OPTIONS)
    frequencies = (dense / dense.sum(axis=1, keepdims=True)).mean(axis=0)
    units = frequencies**-0.25

    def pairs(i):
        words = np.repeat(np.arange(d), dense[i].astype(int))
        both = np.zeros((d, d))
        for one, first in enumerate(words):
            for other, second in enumerate(words):
                both[first, second] += one != other
        scaled = 2 * both / (len(words) * (len(words) - 1)) - np.outer(frequencies, frequencies)
        return scaled * np.outer(units, units)

    shown = show_by_hand(pairs, lambda i, v: v @ pairs(i) @ v, n, d)
    assert_allclose(spectrum.values, shown.mean(axis=0), atol=1e-10)
    errors = NormalDist().inv_cdf(1 - 0.002 / d) * shown.std(axis=0) / np.sqrt(n)
    assert np.all(spectrum.thresholds >= errors * (1 - 1e-10))
    assert_allclose(spectrum.thresholds[-1], errors[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "d", "k", "deviation"),
    [
        (500, 3, 1, 1.0),
        (2000, 30, 4, 4.0),
        (2500, 60, 20, 1.0),
        (200, 300, 4, 1.0),
    ],
)
def test_the_number_of_gaussians_is_found_in_nearly_all_runs(n, d, k, deviation):
    runs = (make_gaussian_mixture(n, d, k, deviation=deviation, random_state=seed).X for seed in range(5))
    assert sum(count(chunk_in_memory(X)).n_components == k for X in runs) >= 4


@pytest.mark.parametrize(("n", "d"), [(60, 2), (300, 6), (60, 90)])
@pytest.mark.parametrize("tails", ["normal", "heavy"])
def test_noise_alone_is_one_gaussian_in_nearly_all_runs(n, d, tails):
    rng = np.random.default_rng(0)
    draw = rng.standard_normal if tails == "normal" else lambda size: rng.standard_t(5, size=size)
    found = [count(chunk_in_memory(draw(size=(n, d)))).n_components for _ in range(10)]
    assert np.count_nonzero(np.array(found) > 1) <= 1


@pytest.mark.parametrize(("d", "k", "dim"), [(20, 1, 3), (50, 5, 4), (60, 3, 1)])
def test_the_number_of_subspaces_is_found(d, k, dim):
    X = make_subspaces(2000, d, k, dim=dim, random_state=2).X
    spectrum = SubspaceSearch("auto", dim=dim).fit(X).spectrum_
    assert (spectrum.n_signal, spectrum.n_components) == (k * dim, k)


@pytest.mark.parametrize("k", [1, 4, 8])
def test_the_number_of_topics_is_found(k):
    assert topic_spectrum(corpus_in_memory(counts_of(n_topics=k, seed=1)), **OPTIONS).n_components == k


def assert_same_spectrum(one, many):
    assert 0 < one.n_signal == many.n_signal
    for name in ("values", "thresholds", "noise"):
        assert_allclose(getattr(many, name), getattr(one, name), rtol=1e-8, atol=1e-10)


CUTS = (5, 5, 701, 703)


@pytest.mark.parametrize("dense_limit", [5, 1000])
def test_gaussians_in_pieces_show_what_all_rows_do(dense_limit, monkeypatch):
    monkeypatch.setattr("mixsearch.core.moments.DENSE_LIMIT", dense_limit)
    X = make_gaussian_mixture(900, 20, 3, random_state=0).X
    assert_same_spectrum(count(chunk_in_memory(X)), count(split_samples(X, CUTS)))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_subspaces_in_pieces_show_what_all_rows_do(kind):
    X = kind(make_subspaces(900, 30, 3, dim=2, random_state=0).X)
    one, many = (count_directions(chunks, np.zeros(30), 0) for chunks in (chunk_in_memory(X), split_samples(X, CUTS)))
    assert_same_spectrum(one, many)


@pytest.mark.parametrize("distinct", [True, False])
def test_topics_in_pieces_show_what_all_rows_do(distinct):
    counts, options = counts_of(), OPTIONS | {"distinct": distinct}
    whole = corpus_in_memory(counts)
    pieces = split_samples(counts, CUTS).map(_documents)
    assert_same_spectrum(topic_spectrum(whole, **options), topic_spectrum(pieces, **options))


def _documents(chunk):
    return replace(corpus_in_memory(chunk.samples).chunk, first=chunk.first)


def test_where_samples_are_and_in_which_units_does_not_matter():
    X = make_gaussian_mixture(300, 8, 3, random_state=0).X
    one, other = (count(chunk_in_memory(samples)) for samples in (X, 100 + 7 * X))
    assert_allclose(other.values, 49 * one.values, rtol=1e-6, atol=1e-8)
    assert_allclose(other.counts, one.counts)


def test_sparse_samples_show_what_dense_ones_do():
    data = make_gaussian_mixture(150, 40, 3, random_state=0)
    X = np.where(np.abs(data.X) > 0.5, data.X, 0)
    dense, sparse = (count(chunk_in_memory(samples)) for samples in (X, sp.csr_array(X)))
    assert dense.n_components == sparse.n_components == 3
    assert_allclose(sparse.values[:2], dense.values[:2], rtol=1e-3)
