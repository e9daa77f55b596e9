"""Searches for topics: refinement, hints of every kind, presets, limits, and saving to a folder."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.closeness import assert_close
from tests.coded import raises, warns

from mixsearch import TopicSearch, WeakHintWarning
from mixsearch.datasets import make_topics
from mixsearch.topics.local_em import LocalTopic
from mixsearch.topics.old_lda import LdaTopic

data = make_topics(1500, 80, 4, mean_length=60, random_state=3)
search = TopicSearch(4).fit(data.counts, vocabulary=data.vocabulary)
plain = TopicSearch(4, alpha0=0.8, damping=False).fit(data.counts, vocabulary=data.vocabulary)
WORDS = [data.vocabulary[data.labelled_word(i)] for i in range(4)]
MEMBERS = np.argsort(-data.shares, axis=0)[:3].T.tolist()  # rows of documents, three of each topic


def with_columns(columns, n=400, seed=0):
    """Counts of two topics of 20 words each, with further columns."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 2
    counts = rng.multinomial(40, np.repeat(np.eye(2), 20, axis=1)[kinds] / 20)
    return sp.csr_array(np.hstack([counts, columns]))


def test_by_default_topics_are_refined_if_counts_are_damped():
    assert search.search(WORDS[1])._refined is not None
    assert plain.search(WORDS[1])._refined is None
    assert_close(search.search(WORDS[1], refine=True).center, search.search(WORDS[1]).center)
    assert_close(plain.search(WORDS[1], refine=False).center, plain.search(WORDS[1]).center)
    assert isinstance(search.search(WORDS[1])._refined, LocalTopic)
    assert isinstance(plain.search(WORDS[1], refine=True)._refined, LdaTopic)


def test_errors_after_local_em_are_those_of_expected_counts_in_groups_of_documents():
    found = search.search(WORDS[1])
    state, model = found._refined.state, found._family
    counts = model.chunks.collect().chunk.by_document[state.documents].toarray()[:, state.words].astype(float)
    chances = state.shares[:, :1] * state.topics[:, 0] / (state.shares @ state.topics.T)
    own = counts * chances
    blocks = np.arange(len(own)) % 40
    without = np.array([own[blocks != block].sum(axis=0) for block in range(40)])
    wanted = np.sqrt(39 * (without / without.sum(axis=1, keepdims=True)).var(axis=0))
    assert_allclose(found.stderr.center[state.words], np.maximum(wanted, 1 / own.sum()), rtol=1e-3)
    assert 0 < found.stderr.weight < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("refine", [False, True])
def test_a_word_that_was_never_seen_is_known_to_one_word_at_best(refine):
    counts = sp.csr_array(np.hstack([data.counts.toarray(), np.zeros((1500, 1))]))
    found = TopicSearch(4, alpha0=0.8, damping=False).fit(counts).search(words=data.labelled_word(1), refine=refine)
    assert found.stderr.center[-1] == pytest.approx(1 / (found.weight * counts.sum()), rel=0.05)


@pytest.mark.parametrize(
    "hint", [{"words": WORDS[1]}, {"documents": MEMBERS[1]}, {"words": WORDS[1], "n_components": 3}]
)
def test_the_moment_estimate_is_the_search_without_refinement(hint):
    estimate, wanted = search.search(**hint).moment_estimate, search.search(**hint, refine=False)
    assert_close(estimate.center, wanted.center)
    assert_close(estimate.weight, wanted.weight)
    assert_close(estimate.documents(5), wanted.documents(5))
    assert_close(estimate.top_words(5), wanted.top_words(5))


def test_typical_words_distinguish_topics_even_if_the_likeliest_are_those_of_the_language():
    counts = with_columns(np.full((400, 1), 30))
    found = TopicSearch(2).fit(counts).search(words=[3])
    assert found.top_words(1, by="probability")[0][0] == "40"
    assert {int(word) for word, _ in found.top_words(20)} == set(range(20))
    with raises("bad_argument", argument="by", choices="'typical', 'probability'", value="beauty"):
        found.top_words(by="beauty")


def test_related_words_are_likelier_in_the_topic_by_the_factor_given():
    found = search.search(WORDS[1])
    related = found.related_words(8)
    assert 0 < len(related) <= 8
    for word, times in related:
        column = data.vocabulary.index(word)
        assert times == pytest.approx(found.probabilities[column] / found._family.word_mean[column])
        assert times > 1


def test_a_hint_in_few_documents_gives_a_warning():
    rare = np.zeros((400, 1), dtype=int)
    rare[:8:2] = 1
    fitted = TopicSearch(2).fit(with_columns(rare))
    with warns("rare_hint", n_named=4, n_documents=400):
        fitted.search(words=[40])


def test_a_phrase_begins_from_the_documents_that_hold_all_of_its_words():
    """Two words that each belong to one topic, and together to ten documents with a word of their own."""
    extra = np.zeros((400, 3), dtype=int)
    extra[::2, 0] = extra[1::2, 1] = 1
    extra[:10, :] = 2
    names = [f"w{i}" for i in range(40)] + ["new", "york", "broadway"]
    fitted = TopicSearch(2).fit(with_columns(extra), vocabulary=names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)  # both topics hold half of it
        phrase, words = (fitted.search(hint).related_words(43) for hint in ("new york", ["new", "york"]))
    assert dict(phrase)["broadway"] > dict(words).get("broadway", 0)


def test_narrower_searches_use_twice_the_components_and_broader_ones_half():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)  # two components for four topics
        used = [len(search.search(WORDS[1], n_components=2, narrower=narrower).scores) for narrower in (0, 1, 9, -9)]
        broad = search.search(WORDS[1], narrower=-1)
    assert used == [2, 4, 4, 2]
    assert len(broad.scores) == 2


def test_a_hint_that_no_document_holds_says_so():
    fitted = TopicSearch(2).fit(with_columns(np.zeros((400, 1), dtype=int)))
    with raises("no_matching_documents"):
        fitted.search(np.eye(41)[40])
    with raises("word_without_documents", word=40):
        fitted.search(words=[40])
    with raises("no_matching_documents"):
        search.search(words={WORDS[1]: 1.0, data.vocabulary.index(WORDS[1]): -1.0})


def test_counts_that_are_stored_as_zero_are_no_words():
    counts = data.counts.astype(float)
    column = int(np.setdiff1d(np.arange(80), counts[[1499]].indices)[0])
    stored = sp.csr_array(
        (np.append(counts.data, 0.0), np.append(counts.indices, column), [*counts.indptr[:-1], counts.nnz + 1]),
        shape=counts.shape,
    )
    stored.sort_indices()
    fitted = TopicSearch(4).fit(stored, vocabulary=data.vocabulary)
    assert fitted._family.chunks.collect().chunk.by_word.nnz == counts.nnz
    assert_close(fitted.search(WORDS[1]).center, search.search(WORDS[1]).center)
    assert stored.nnz == counts.nnz + 1


@pytest.mark.parametrize("fitted", [search, plain], ids=["damped", "plain"])
def test_a_search_from_a_folder_answers_as_before(fitted, tmp_path):
    fitted.save(tmp_path / "topics")
    loaded = TopicSearch.load(tmp_path / "topics")
    assert loaded._options == fitted._options
    for name in ("n_components", "preset", "random_state"):
        assert getattr(loaded, name) == getattr(fitted, name)
    assert loaded.vocabulary_ == fitted.vocabulary_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)
        for hint in ({"words": WORDS[1]}, {"documents": MEMBERS[1]}, {"words": WORDS[1], "n_components": 2}):
            one, other = fitted.search(**hint), loaded.search(**hint)
            assert_close(one.probabilities, other.probabilities)
            assert_close(one.documents(20), other.documents(20))
            assert_close(one.top_words(20), other.top_words(20))
            assert_close(one.membership(data.counts), other.membership(data.counts))


def test_the_preset_of_the_paper_makes_its_choices():
    paper = TopicSearch(4, preset="paper", alpha0=0.8).fit(data.counts, vocabulary=data.vocabulary)
    options = {"moments": "plugin", "weights": "uniform", "metric": 0.0, "damping": False}
    spelt = TopicSearch(4, alpha0=0.8, **options).fit(data.counts, vocabulary=data.vocabulary)
    found, wanted = paper.search(WORDS[1]), spelt.search(WORDS[1], choose="largest", refine=False)
    assert found._refined is None
    assert_close(found.center, wanted.center)
    assert_close(found.weight, wanted.weight)


@pytest.mark.parametrize(
    ("change", "options", "code"),
    [
        (lambda X: X, {"n_components": 10**9}, "too_few_features"),
        (lambda X: X, {"n_components": True}, "bad_argument"),
        (lambda X: 0 * X, {}, "too_few_documents"),
        (lambda X: -X, {}, "negative_counts"),
        (lambda X: X * 1e160, {}, "count_too_large"),
        (lambda X: X * 1e160, {"damping": False}, "count_too_large"),
        (lambda X: X * 1e60, {"preset": "paper"}, "count_too_large"),
        (lambda X: (X * 2**31).astype(np.int64), {"damping": False}, "count_too_large"),
    ],
)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.filterwarnings("error")
def test_counts_without_moments_are_refused(change, options, code, convert):
    X = np.random.default_rng(0).poisson(1.0, size=(60, 12)).astype(float)
    with raises(code):
        TopicSearch(**({"n_components": 3} | options)).fit(convert(change(X)))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_missing_and_infinite_counts_are_refused_and_true_counts_as_one():
    X = np.random.default_rng(0).poisson(2.0, size=(300, 12)).astype(float)
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="NaN|infinity"):
            TopicSearch(2).fit(np.where(X == 3, value, X))
    whether, ones = (TopicSearch(1).fit(each).search(words=[0]).center for each in (X > 0, np.minimum(X, 1)))
    assert_allclose(whether, ones)


def test_counts_of_other_documents_have_the_same_range():
    topic = plain.search(WORDS[0])
    with raises("count_too_large", limit=2**31 - 1):
        topic.membership(data.counts[:3] * 1e160)
