import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.coded import raises, warns

from mixsearch import TopicSearch
from mixsearch.datasets import make_topics
from mixsearch.errors import DroppedDocumentsWarning
from mixsearch.topics.component import list_alternatives

data = make_topics(1500, 80, 4, mean_length=60, random_state=3)
search = TopicSearch(4, alpha0=0.8, damping=False).fit(data.counts, vocabulary=data.vocabulary)


@pytest.fixture
def topic():
    return search.search(words=data.vocabulary[data.labelled_word(2)])


def test_the_first_alternatives_are_those_of_the_topic(topic):
    for found in (topic, *topic.alternatives[-1:]):
        first = list_alternatives(found, 2)
        assert len(first) == min(2, len(found.alternatives))
        for one, other in zip(first, found.alternatives, strict=False):
            assert_allclose(one.center, other.center, atol=1e-12)
            assert (one.weight, one.share) == (other.weight, other.share)


def test_shares_of_new_documents_are_estimated_without_bias(topic):
    rng = np.random.default_rng(9)
    truth = rng.dirichlet(data.alpha, size=1500)
    new = sp.csr_array(np.array([rng.multinomial(60, share @ data.topics) for share in truth]))
    shares = topic.membership(new)
    assert np.abs(shares.mean() - truth[:, 2].mean()) < 0.03
    assert np.corrcoef(shares, truth[:, 2])[0, 1] > 0.95
    assert topic.membership(sp.csr_array((1, 80))).tolist() == [0.0]


def test_documents_are_a_hint_by_row_and_by_counts():
    rows = np.argsort(-data.shares[:, 1])[:3]
    by_row = search.search(documents=rows)
    assert_allclose(by_row.center, search.search(documents=data.counts[rows]).center, atol=1e-12)
    assert np.linalg.norm(by_row.probabilities - data.topics[1]) < 0.05


def test_a_negative_word_turns_the_search_away_from_its_topic():
    ours, theirs = (data.vocabulary[data.labelled_word(i)] for i in (0, 1))
    found = search.search(words={ours: 1.0, theirs: -1.0})
    assert np.linalg.norm(found.probabilities - data.topics[0]) < 0.05
    scores = {i: min(np.linalg.norm(a.center - t) for t in (data.topics[1],)) for i, a in enumerate(found.alternatives)}
    assert found.alternatives[min(scores, key=scores.get)].score < 0


def test_the_largest_score_and_the_largest_share_can_differ():
    """A word that is likeliest in a rare topic, but occurs mostly in a frequent one."""
    topics = np.full((2, 20), 0.02)
    topics[0, :10], topics[1, 10:] = 0.08, 0.08
    topics[:, 0] = 0.05, 0.08
    topics /= topics.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([0.45, 0.05], size=20_000)
    counts = sp.csr_array(np.array([rng.multinomial(30, share @ topics) for share in shares]))
    fitted = TopicSearch(2, alpha0=0.5, damping=False).fit(counts)
    largest, share = (fitted.search(words=[0], choose=how) for how in ("largest", "share"))
    assert largest.weight == pytest.approx(0.1, abs=0.05)
    assert share.weight == pytest.approx(0.9, abs=0.05)
    assert share.share > largest.share


def test_short_documents_are_dropped_and_counted():
    counts = sp.vstack([data.counts, sp.csr_array(np.eye(80)[:7])]).tocsr()
    with warns("dropped_documents", n_dropped=7, n_documents=1507, min_words=3):
        fitted = TopicSearch(4, alpha0=0.8, damping=False).fit(counts, vocabulary=data.vocabulary)
    assert fitted.n_dropped_ == 7
    word = data.vocabulary[data.labelled_word(2)]
    assert_allclose(fitted.search(words=word).center, search.search(words=word).center, atol=1e-10)
    with raises("unknown_row", row=1503):
        fitted.search(documents=[1503])


def test_rows_keep_the_numbers_of_the_user_s_matrix_when_documents_are_dropped():
    counts = sp.vstack([sp.csr_array(np.eye(80)[:7]), data.counts]).tocsr()
    with pytest.warns(DroppedDocumentsWarning):
        fitted = TopicSearch(4, alpha0=0.8, damping=False).fit(counts)
    word = data.labelled_word(2)
    assert [row - 7 for row, _ in fitted.search(words=[word]).documents(9)] == [
        row for row, _ in search.search(words=[word]).documents(9)
    ]


def test_negative_counts_are_refused():
    counts = data.counts.copy().astype(float)
    counts.data[5] = -3
    with raises("negative_counts"):
        TopicSearch(4).fit(counts)


def test_more_topics_than_the_corpus_supports_are_cut_with_a_warning():
    with warns("fewer_components", n_requested=80):
        fitted = TopicSearch(80, alpha0=0.8, damping=False).fit(data.counts)
    assert 4 <= fitted.n_components_ < 80


@pytest.mark.parametrize(("name", "value"), [("alpha0", 0), ("metric", "a"), ("moments", "magic")])
def test_an_option_that_cannot_be_is_an_error(name, value):
    with raises("bad_argument", argument=name, value=value):
        TopicSearch(4, **{name: value}).fit(data.counts)


def test_fractions_are_no_counts():
    frequencies = data.counts / np.asarray(data.counts.sum(axis=1))[:, None]
    with raises("needs_whole_counts", argument="moments"):
        TopicSearch(4, moments="distinct").fit(frequencies)
    fitted = TopicSearch(4, alpha0=0.8, damping=False).fit(frequencies)
    assert not fitted._family.distinct


def test_damping_keeps_single_words_and_flattens_repeats():
    damped = TopicSearch(4, alpha0=0.8).fit(data.counts)._family.chunks.collect().chunk.by_document
    assert_allclose(damped.data, np.log2(1 + data.counts.data))


def test_duplicate_documents_change_nothing():
    doubled = sp.vstack([data.counts, data.counts]).tocsr()
    fitted = TopicSearch(4, alpha0=0.8, damping=False).fit(doubled)
    word = data.labelled_word(1)
    assert_allclose(fitted.search(words=[word]).center, search.search(words=[word]).center, atol=1e-9)


def test_a_mask_of_documents_is_no_list_of_rows():
    mask = data.shares[:, 2] > 0.95
    assert_allclose(search.search(documents=mask).center, search.search(documents=np.flatnonzero(mask)).center)


@pytest.mark.parametrize("documents", [[1.7, 2.2], [True, False]])
def test_documents_that_are_no_rows_are_refused(documents):
    with raises("bad_documents", n_rows=1500, n_words=80):
        search.search(documents=documents)


@pytest.mark.parametrize(("vocabulary", "code"), [("x" * 80, "bad_vocabulary"), (["twice"] * 80, "repeated_word")])
def test_a_vocabulary_that_names_no_columns_is_refused(vocabulary, code):
    with raises(code):
        TopicSearch(4).fit(data.counts, vocabulary=vocabulary)


def test_counts_that_list_a_word_twice_are_added_up_before_they_are_damped():
    counts = data.counts.astype(float)
    rows = np.repeat(np.arange(1500), np.diff(counts.indptr))
    parts = np.concatenate([counts.data - 0.5 * (counts.data > 1), 0.5 * (counts.data > 1)])
    twice = sp.coo_array((parts, (np.tile(rows, 2), np.tile(counts.indices, 2))), shape=counts.shape)
    order = np.argsort(twice.row, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(twice.row, minlength=1500)))
    doubled = sp.csr_array((twice.data[order], twice.col[order], starts), shape=counts.shape)
    assert not doubled.has_canonical_format
    word = data.labelled_word(1)
    one, other = (TopicSearch(4, alpha0=0.8).fit(c).search(words=[word]) for c in (counts, doubled))
    assert_allclose(other.center, one.center, atol=1e-10)
    assert_allclose(other.membership(doubled), one.membership(counts), atol=1e-10)


def test_too_few_components_for_a_word_give_a_warning():
    word = data.vocabulary[data.labelled_word(2)]
    with warns("hint_left_out", n_components=1, n_fitted=4):
        search.search(words=word, n_components=1)
