"""Documents marked as about a topic and as not about it, alone and beside words."""

import numpy as np
from tests.coded import raises

from mixsearch import TopicSearch
from mixsearch.datasets import make_topics
from mixsearch.errors import collect_warnings

data = make_topics(1500, 80, 4, mean_length=60, random_state=3)
SUBJECT = data.shares.argmax(axis=1)
MEMBERS = np.argsort(-data.shares, axis=0)[:40].T  # rows of documents, forty of each topic
WORDS = [data.vocabulary[data.labelled_word(i)] for i in range(4)]
search = TopicSearch(4).fit(data.counts, vocabulary=data.vocabulary)


def subjects_of(topic, n=20):
    """The true topics of the documents that are listed."""
    return SUBJECT[[row for row, _ in topic.documents(n)]]


def quiet(**hint):
    with collect_warnings():
        return search.search(**hint)


def test_documents_say_which_of_two_topics_a_word_means():
    both = [WORDS[0], WORDS[1]]
    for topic in (0, 1):
        found = quiet(words=both, documents=MEMBERS[topic, :3])
        assert np.mean(subjects_of(found) == topic) > 0.7
        against = quiet(words=both, documents=MEMBERS[topic, :3], not_documents=MEMBERS[1 - topic, :3])
        assert np.mean(subjects_of(against) == topic) > 0.9


def test_documents_that_are_not_about_it_rule_a_topic_out():
    both = [WORDS[0], WORDS[1]]
    for topic in (0, 1):
        found = quiet(words=both, not_documents=MEMBERS[1 - topic, :3])
        assert np.mean(subjects_of(found) == topic) > 0.9


def test_documents_that_are_not_about_it_are_never_listed():
    first = [row for row, _ in quiet(words=WORDS[0]).documents(10)]
    found = quiet(words=WORDS[0], not_documents=first[:4])
    rows = [row for row, _ in found.documents(len(SUBJECT))]
    assert not set(first[:4]) & set(rows)
    assert len(rows) == len(SUBJECT) - 4


def test_marking_what_a_word_means_anyway_keeps_its_topic():
    plain, found = quiet(words=WORDS[1]), quiet(words=WORDS[1], documents=MEMBERS[1, :3])
    assert np.minimum(plain.probabilities, found.probabilities).sum() > 0.9
    assert found.confidence > 0.3


def test_a_document_cannot_be_both():
    with raises("contradicting_documents", n_documents=1):
        search.search(documents=MEMBERS[0, :2], not_documents=MEMBERS[0, 1:3])


def test_documents_to_avoid_need_something_wanted():
    with raises("one_hint"):
        search.search(not_documents=[1])
    with raises("unknown_row", row=9999):
        search.search(words=WORDS[0], not_documents=[9999])


def test_a_word_all_of_whose_documents_are_marked_as_others_is_never_sure():
    column = int(np.argmin(np.where(data.counts.sum(axis=0) > 0, data.counts.sum(axis=0), np.inf)))
    rows = np.flatnonzero(np.asarray(data.counts[:, [column]].todense()).ravel())
    found = quiet(words=data.vocabulary[column], not_documents=rows)
    assert found.confidence == 0
