"""Documents as unit tf-idf vectors and their coordinates, against dense linear algebra."""

import numpy as np
import scipy.sparse as sp

from mixsearch.datasets import make_topics
from mixsearch.topics.fitted_corpus import FittedCorpus, Segment, damp_counts, place_documents
from mixsearch.topics.score import (
    compute_contrast,
    multiply_corpus,
    multiply_vectors,
    remove_words,
    run_pass,
    score_documents,
    score_vectors,
    walk_from,
)
from mixsearch.topics.tuning import TUNING

K = 6
counts = sp.csr_array(make_topics(300, 80, 4, mean_length=30, random_state=0).counts)
corpus = FittedCorpus.fit(counts, n_components=K)


def dense_tfidf(counts):
    """Unit tf-idf vectors by the definition."""
    C = np.log2(1 + counts.toarray())
    X = C * (np.log((1 + len(C)) / (1 + (C > 0).sum(axis=0))) + 1)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def test_the_frame_has_the_top_eigenvectors_of_pairs_of_different_words():
    X, frame = dense_tfidf(counts), corpus.frame
    second = X.T @ X / len(X)
    values = np.linalg.eigvalsh(second - np.diag(np.diag(second)))[::-1][:K]
    assert np.allclose(frame.mean, X.mean(axis=0), atol=1e-6)
    assert np.allclose(frame.deviation, X.std(axis=0), atol=1e-5)
    assert np.allclose(frame.values, values, rtol=1e-3)
    placed = X @ frame.basis
    found = corpus.segments[0].placed
    assert np.allclose(found.coordinates * found.norms[:, None], placed, atol=1e-4)
    assert np.allclose(frame.center, found.coordinates.mean(axis=0), atol=1e-5)


def test_documents_in_several_segments_are_rated_as_those_of_one():
    damped, frame = damp_counts(counts), corpus.frame
    parts = [damped[:100], damped[100:140], damped[140:]]
    segments = [
        Segment(part, sp.csc_array(part), place_documents(frame, part), np.arange(part.shape[0]), np.arange(1))
        for part in parts
    ]
    several = FittedCorpus(None, frame, segments)
    chosen = np.array([3, 99, 100, 139, 140, 299])
    one, other = (each.take_vectors(chosen) for each in (corpus, several))
    assert np.allclose(one.tfidf.toarray(), other.tfidf.toarray(), atol=1e-6)
    contrast = compute_contrast(frame, other, np.full(len(chosen), 1 / 6))
    products = multiply_corpus(several, contrast)
    assert np.allclose(products, multiply_corpus(corpus, contrast), atol=1e-4)
    assert np.allclose(products[chosen], multiply_vectors(other, contrast), atol=1e-4)
    for word in range(counts.shape[1]):
        assert np.array_equal(several.find_documents(word)[0], np.flatnonzero(counts[:, [word]].toarray()))


def test_documents_without_a_word_are_those_that_never_had_it():
    word = int(corpus.document_frequency.argmax())
    documents = corpus.find_documents(word)[0][:20]
    removed = remove_words(corpus.frame, corpus.take_vectors(documents), np.array([word]))
    X = damp_counts(counts[documents]).toarray()
    X[:, word] = 0
    placed = place_documents(corpus.frame, sp.csr_array(X))
    assert np.allclose(removed.coordinates, placed.coordinates, atol=1e-3)
    assert np.allclose(removed.norms, placed.norms, atol=1e-3)
    assert not removed.tfidf[:, [word]].toarray().any()
    assert np.allclose(np.linalg.norm(removed.tfidf.toarray(), axis=1), 1, atol=1e-5)


def z(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


def test_a_pass_adds_standardized_contrasts():
    X, frame = dense_tfidf(counts), corpus.frame
    weights = np.zeros(300)
    weights[[3, 5, 8, 13]] = 0.25
    Y = corpus.segments[0].placed.coordinates
    broad = Y * (frame.values / frame.values[0]) ** TUNING.power
    broad /= np.linalg.norm(broad, axis=1, keepdims=True)
    products = [
        X @ ((X.T @ weights - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-6)),
        *(places @ (places.T @ weights - places.mean(axis=0)) for places in (Y, broad)),
    ]
    total = z(np.stack(products, axis=1)).sum(axis=1)
    documents = np.flatnonzero(weights)
    contrast = compute_contrast(frame, corpus.take_vectors(documents), weights[documents])
    assert np.allclose(run_pass(corpus, contrast)[1], z(total), atol=2e-3)


def test_the_walk_is_pagerank_on_the_graph_of_documents_and_anchors():
    S = corpus.anchors.toarray()
    links = S.T @ S
    P = links / links.sum(axis=1, keepdims=True)
    start = S[[3, 5]].mean(axis=0)
    visits, at = np.zeros(len(P)), start
    for _ in range(500):  # a walk that stops with a fixed probability in each step
        visits, at = visits + (1 - TUNING.stay) * at, TUNING.stay * P.T @ at
    expected = 300 * visits / S.sum(axis=0)
    walk, _ = walk_from(corpus, corpus.take_vectors(np.array([3, 5])), np.array([1.0, 1.0]), 1.0)
    assert np.allclose(walk.at_anchors, expected, rtol=1e-3, atol=1e-3)


def test_other_documents_are_scored_as_those_of_the_corpus():
    for documents in (np.array([3, 5, 8]), np.arange(0, 300, 2)):  # with a second pass and without
        weights = np.full(len(documents), 1 / len(documents))
        scores = score_documents(corpus, corpus.take_vectors(documents), weights)
        assert (scores.second is None) == (len(documents) > TUNING.few)
        assert np.allclose(score_vectors(corpus, corpus.place(damp_counts(counts)), scores), scores.values, atol=2e-3)


def test_a_document_without_features_is_nowhere():
    empty = sp.vstack([counts, sp.csr_array((1, counts.shape[1]))])
    fitted = FittedCorpus.fit(empty, n_components=K)
    contrast = compute_contrast(fitted.frame, fitted.take_vectors(np.array([0])), np.ones(1))
    assert np.array_equal(multiply_corpus(fitted, contrast)[-1], [0, 0, 0])
