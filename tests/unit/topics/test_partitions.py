"""Documents in any number of chunks give the topics of all of them together."""

import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from tests.coded import raises
from tests.split_samples import split_samples

from mixsearch import SearchError, TopicSearch
from mixsearch.datasets import make_topics
from mixsearch.errors import DroppedDocumentsWarning, WeakHintWarning
from mixsearch.topics.corpus import FittedCorpus

CUTS = (200, 200, 203, 640, 641)
SHORT = np.arange(200, 206)  # all documents of one chunk, and some of the next


@cache
def corpus():
    """Counts, some of them of documents that are too short, and the words."""
    data = make_topics(900, 90, 4, mean_length=50, random_state=3)
    counts = sp.lil_array(data.counts)
    counts[SHORT] = 0
    counts[SHORT[1:], 7] = 2
    return sp.csr_array(counts).astype(np.float64), data.vocabulary, [data.labelled_word(i) for i in range(4)]


class Pieces(TopicSearch):
    """A search whose samples are in pieces."""

    def fit(self, X, y=None, *, cuts, **options):
        self.cuts_ = cuts
        return super().fit(X, y, **options)

    def _check_chunks(self, X):
        self.n_features_in_ = X.shape[1]
        return split_samples(X, self.cuts_)


def fit_both(cuts, y=None, counts=None, **options):
    X, vocabulary, _ = corpus()
    X = X if counts is None else counts
    options = {"n_components": 4, "alpha0": 0.8} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedDocumentsWarning)
        whole = TopicSearch(**options).fit(X, y, vocabulary=vocabulary)
        return whole, Pieces(**options).fit(X, y, cuts=cuts, vocabulary=vocabulary)


fit_cached = cache(fit_both)


def assert_same(one, other, tol=1e-8):
    assert_allclose(one.center, other.center, atol=tol)
    assert_allclose(one.scores, other.scores, rtol=tol)
    assert one.weight == pytest.approx(other.weight, rel=tol)
    assert one.top_words(10) == [(word, pytest.approx(p, abs=tol)) for word, p in other.top_words(10)]
    assert one.related_words(10) == [(word, pytest.approx(p, rel=tol)) for word, p in other.related_words(10)]
    assert one.documents(40) == [(row, pytest.approx(share, abs=tol)) for row, share in other.documents(40)]
    assert_allclose(one.stderr.center, other.stderr.center, rtol=10 * tol, atol=tol)
    assert one.stderr.weight == pytest.approx(other.stderr.weight, rel=10 * tol)
    assert one.confidence == pytest.approx(other.confidence, abs=tol)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"moments": "plugin"}, {"weights": "uniform", "metric": 0.0}])
def test_topics_by_words_are_those_of_all_documents(options):
    whole, pieces = fit_cached(CUTS, damping=False, **options)
    _, _, labelled = corpus()
    assert pieces.n_dropped_ == whole.n_dropped_ > 0
    assert_same(whole.search(words=[labelled[1]]), pieces.search(words=[labelled[1]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)  # three components for four topics
        asked = {"words": {labelled[1]: 1.0, labelled[2]: -0.5}, "n_components": 3}
        assert_same(whole.search(**asked), pieces.search(**asked))


@pytest.mark.slow
def test_topics_by_other_hints_are_those_of_all_documents():
    whole, pieces = fit_cached(CUTS, damping=False)
    X, _, labelled = corpus()
    direction = np.zeros(X.shape[1])
    direction[labelled] = [0.1, 1.0, 0.2, 0.1]
    rows = [row for row, _ in whole.search(words=[labelled[2]]).documents(3)]
    for hint in ({"documents": [rows[2], rows[0], rows[2]]}, {"documents": X[rows]}, {"hint": direction}):
        assert_same(whole.search(**hint), pieces.search(**hint))
    assert_same(whole.search(words=[labelled[0]], project=True), pieces.search(words=[labelled[0]], project=True))


@pytest.mark.parametrize("most", [1, 60])
def test_the_same_documents_stand_for_all_that_hold_a_word(most):
    whole, pieces = fit_cached(CUTS, damping=False)
    word = [int(whole._family.document_frequency.argmax())]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)
        one, other = (each.search(words=word, max_documents=most) for each in (whole, pieces))
    assert_allclose(one._hinted.matrix, other._hinted.matrix, rtol=1e-8, atol=1e-10)
    assert_allclose(one._replicates.hinted, other._replicates.hinted, rtol=1e-7, atol=1e-8)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.DoubtfulExamplesWarning")  # of several topics
@pytest.mark.parametrize("hint", ["word", "phrase", "documents", "counts"])
def test_local_em_finds_the_same_words_and_documents(hint):
    whole, pieces = fit_cached(CUTS)
    X, vocabulary, labelled = corpus()
    asked = {
        "word": {"words": [labelled[1]], "n_components": "enough", "max_documents": 50},
        "phrase": {"words": f"{vocabulary[labelled[1]]} {vocabulary[labelled[2]]}"},
        "documents": {"documents": [300, 10, 650]},
        "counts": {"documents": X[[300, 10]]},
    }[hint]
    one, other = whole.search(**asked), pieces.search(**asked)
    assert_array_equal(one._refined.state.documents, other._refined.state.documents)
    assert [word for word, _ in one.top_words(10)] == [word for word, _ in other.top_words(10)]
    assert [row for row, _ in one.documents(10)] == [row for row, _ in other.documents(10)]
    assert_allclose(one.probabilities, other.probabilities, atol=1e-3)
    assert one.weight == pytest.approx(other.weight, abs=1e-3)
    assert_allclose(one.stderr.center, other.stderr.center, atol=1e-3)
    assert one.stderr.weight == pytest.approx(other.stderr.weight, abs=1e-3)


def test_errors_about_counts_are_those_of_all_documents():
    def find_error(counts, **options):
        found = []
        for search, extra in ((TopicSearch(4, **options), {}), (Pieces(4, **options), {"cuts": CUTS})):
            with pytest.raises(SearchError) as caught:
                search.fit(counts, **extra)
            found.append((caught.value.code, caught.value.fields))
        assert found[0] == found[1]
        return found[0]

    X, _, _ = corpus()
    below = X.copy()
    below.data[[5, -5]] = -1, -2
    assert find_error(below) == ("negative_counts", {"smallest": -2})
    assert find_error(X * 0.5, moments="distinct")[0] == "needs_whole_counts"
    short = sp.csr_array(X[np.tile(SHORT, 150)])
    code, fields = find_error(short)
    assert (code, fields["n_samples"], fields["n_long"]) == ("too_few_documents", 900, 0)


def test_rows_that_were_left_out_are_in_no_chunk():
    whole, pieces = fit_cached(CUTS, damping=False)
    rows = [0, 199, 206, 899]
    assert_array_equal(*(FittedCorpus(each).find_documents(rows) for each in (pieces, whole)))
    for rows in ([0, 203], [900], [-1]):
        with raises("unknown_row"):
            pieces.search(documents=rows)
