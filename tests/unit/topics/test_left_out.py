"""Fits with fewer topics than there are."""

import numpy as np
import pytest

from mixsearch import TopicSearch
from mixsearch.datasets import make_topics
from mixsearch.errors import UnlikelyMixtureWarning, collect_warnings

data = make_topics(1500, 80, 4, mean_length=60, random_state=3)
WORDS = [data.labelled_word(i) for i in range(4)]
MEMBERS = np.argsort(-data.shares, axis=0)[:3].T


def fit(k, **options):
    return TopicSearch(k, **{"alpha0": 0.8, "damping": False} | options).fit(data.counts)


def codes(search, **hint):
    with collect_warnings():
        return [doubt.code for doubt in search.search(**hint).doubts]


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
def test_a_topic_that_was_left_out_is_doubted(refine):
    few = fit(2)
    shares = [np.sum(fit(4)._family.project(few._read_words(None, word))[2:] ** 2) for word in WORDS]
    with pytest.warns(UnlikelyMixtureWarning, match=r"There are more topics than 2: \d+% of the hint is in directions"):
        found = few.search(words=WORDS[int(np.argmax(shares))], refine=refine)
    assert found.doubts[-1].code == "too_few_components"
    assert found.confidence < 0.2


def test_documents_of_a_topic_that_was_left_out_are_doubted():
    assert any("too_few_components" in codes(fit(2), documents=MEMBERS[topic]) for topic in range(4))
    assert not any("too_few_components" in codes(fit(4), documents=MEMBERS[topic]) for topic in range(4))
