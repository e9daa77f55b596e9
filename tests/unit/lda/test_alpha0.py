"""The sum of the Dirichlet parameters, estimated from counts."""

import warnings

import numpy as np
import pytest
from tests.coded import raises

from mixsearch import LdaSearch
from mixsearch.datasets import make_topics


def fit(data, alpha0, k=5):
    return LdaSearch(k, alpha0=alpha0).fit(data.counts)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.6])
def test_the_sum_is_found_within_its_error_bar(alpha):
    data = make_topics(4000, 200, 5, mean_length=200, alpha=alpha, random_state=0)
    search = fit(data, "auto")
    assert search.alpha0_ == pytest.approx(5 * alpha, rel=0.2)
    assert abs(search.alpha0_ - 5 * alpha) < 4 * search.alpha0_stderr_
    assert search.alpha0_stderr_ < 0.2 * search.alpha0_


@pytest.mark.slow
def test_an_estimated_sum_does_as_well_as_the_true_one():
    data = make_topics(4000, 200, 5, mean_length=200, alpha=0.4, random_state=1)

    def error(alpha0):
        search = fit(data, alpha0)
        found = [search.search(data.topics[i] - data.topics.mean(axis=0)).center for i in range(5)]
        return np.mean([np.linalg.norm(one - truth) for one, truth in zip(found, data.topics, strict=True)])

    estimated = error("auto")
    assert estimated < 1.1 * error(2.0)
    assert estimated < 0.7 * error(0.01)


@pytest.mark.parametrize("k", [1, 2])
def test_fewer_than_three_topics_do_not_determine_the_sum(k):
    data = make_topics(200, 30, 2, mean_length=50, random_state=0)
    with raises("alpha0_not_identified", n_components=k, minimum=3):
        fit(data, "auto", k)


def test_a_fit_of_one_topic_found_does_not_determine_the_sum():
    counts = np.random.default_rng(0).multinomial(50, np.full(30, 1 / 30), size=200)
    with raises("alpha0_not_identified"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no signal
        LdaSearch("auto", alpha0="auto").fit(counts)


@pytest.mark.parametrize("alpha0", [0, -1, np.nan, np.inf, 1e300, "one"])
def test_a_sum_is_a_positive_number_of_moderate_size(alpha0):
    with raises("bad_argument", argument="alpha0"):
        LdaSearch(2, alpha0=alpha0).fit(np.ones((4, 3)))


@pytest.mark.parametrize("options", [{"alpha0": "auto", "n_components": 3}, {"n_components": "auto"}])
def test_what_counts_tell_needs_moments_of_different_words(options):
    counts = make_topics(100, 30, 2, mean_length=50, random_state=0).counts
    with raises("needs_whole_counts"):
        LdaSearch(moments="plugin", **options).fit(counts)
    with raises("needs_whole_counts"):
        LdaSearch(**options).fit(0.5 * counts)
