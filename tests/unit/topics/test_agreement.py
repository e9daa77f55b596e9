"""Whether the words and the documents of a hint are about one topic."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.coded import warns

from mixsearch import TopicSearch
from mixsearch.datasets import make_topics
from mixsearch.errors import DoubtfulExamplesWarning, collect_warnings

data = make_topics(1500, 80, 4, mean_length=60, random_state=3)
MEMBERS = np.argsort(-data.shares, axis=0)[:6].T  # rows of documents, six of each topic
WORDS = [data.vocabulary[data.labelled_word(i)] for i in range(4)]
FITS = {
    "text": TopicSearch(4).fit(data.counts, vocabulary=data.vocabulary),
    "model": TopicSearch(4, alpha0=0.8, damping=False).fit(data.counts, vocabulary=data.vocabulary),
}
each_fit = pytest.mark.parametrize("search", FITS.values(), ids=FITS)


def partner(topic):
    """A word that is likely in a topic and in no other, but for the first of these."""
    odds = data.topics[topic] / (np.delete(data.topics, topic, axis=0).max(axis=0) + 0.01)
    return next(data.vocabulary[i] for i in np.argsort(-odds) if data.vocabulary[i] != WORDS[topic])


@each_fit
@pytest.mark.parametrize("refine", [False, True])
def test_documents_of_two_topics_are_warned_about(search, refine):
    with pytest.warns(DoubtfulExamplesWarning) as warned:
        found = search.search(documents=[*MEMBERS[0, :3], *MEMBERS[1, :3]], refine=refine)
    assert [warning.code for warning in found.warnings] == ["examples_disagree"]
    assert found.warnings[0].fields["rows"] in ([0, 1, 2], [3, 4, 5])
    assert len(warned) == 1
    assert found.confidence < 0.01


@each_fit
@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("topic", [0, 3])
def test_documents_of_one_topic_are_not_warned_about(search, refine, topic):
    found = search.search(documents=MEMBERS[topic, :4], refine=refine)
    assert not found.warnings
    assert found.confidence > 0.7


def test_after_local_em_more_documents_of_one_topic_give_more_confidence():
    confidences = [FITS["text"].search(documents=MEMBERS[2, :n]).confidence for n in (2, 4, 6)]
    assert np.all(np.diff(confidences) > 0.01)


@each_fit
@pytest.mark.parametrize("pair", [(0, 1), (3, 0)])
def test_words_of_two_topics_are_warned_about_and_named(search, pair):
    words = [WORDS[i] for i in pair]
    with warns("words_disagree") as warned:
        found = search.search(words=words)
    assert [warning.code for warning in found.warnings] == ["words_disagree"]
    assert len(warned) == 1
    fields = found.warnings[0].fields
    assert sorted([fields["own_words"], fields["other_words"]]) == sorted(map(repr, words))
    assert found.confidence < 0.1


@each_fit
@pytest.mark.parametrize("topic", [0, 3])
def test_words_of_one_topic_are_not_warned_about(search, topic):
    found = search.search(words=[WORDS[topic], partner(topic)])
    assert not found.warnings
    assert found.confidence > 0.9


@each_fit
def test_words_to_avoid_and_words_of_all_topics_do_not_disagree(search):
    spread = np.sort(data.topics / data.topics.mean(axis=0), axis=0)
    common = data.vocabulary[np.argmin(spread[-1] - spread[0])]
    for words in ({WORDS[0]: 1.0, WORDS[1]: -1.0}, {WORDS[0]: 3.0, common: 1.0}):
        with collect_warnings():
            found = search.search(words=words)
        assert "words_disagree" not in [warning.code for warning in found.warnings]


def test_the_words_of_a_hint_add_up_to_it():
    model = FITS["model"]._family
    hint = FITS["model"]._read_words(None, {WORDS[0]: 2.0, WORDS[1]: 1.0})
    parts = sum(term.weight * model.project(term.hint(model.word_mean)) for term in hint.terms)
    assert_allclose(model.project(hint), parts)


LABELLED = [data.labelled_word(i) for i in range(4)]


def fit(k, **options):
    return TopicSearch(k, **{"alpha0": 0.8, "damping": False} | options).fit(data.counts)


def codes(search, **hint):
    with collect_warnings():
        return [warning.code for warning in search.search(**hint).warnings]


@pytest.mark.parametrize(("k", "n_left_out"), [(1, 3), (3, 1)])
def test_the_directions_that_stand_out_are_those_of_the_topics_left_out(k, n_left_out):
    whole, few = fit(4), fit(k)
    assert few._family.left_out.n_components == n_left_out
    overlaps = np.abs(np.sum(few._family.left_out.basis * whole._family.frame.basis[:, k:], axis=0))
    assert overlaps.min() > 0.99


@pytest.mark.parametrize("k", [4, 7])
def test_with_enough_topics_nothing_is_left_out(k):
    assert fit(k)._family.left_out is None


@pytest.mark.parametrize("refine", [False, True])
def test_a_topic_that_was_left_out_is_warned_about(refine):
    few = fit(2)
    shares = [np.sum(fit(4)._family.project(few._read_words(None, word))[2:] ** 2) for word in LABELLED]
    with warns("too_few_components", n_components=2, n_left_out=2):
        found = few.search(words=LABELLED[int(np.argmax(shares))], refine=refine)
    assert found.warnings[-1].code == "too_few_components"
    assert found.confidence < 0.2


def test_documents_of_a_topic_that_was_left_out_are_warned_about():
    assert any("too_few_components" in codes(fit(2), documents=MEMBERS[topic, :3]) for topic in range(4))
    assert not any("too_few_components" in codes(fit(4), documents=MEMBERS[topic, :3]) for topic in range(4))
