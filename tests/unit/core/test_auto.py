"""`n_components="auto"` in searches: the fit, its attributes and its warnings."""

import numpy as np
import pytest
from tests.coded import raises, warns

from mixsearch import GaussianSearch, LdaSearch
from mixsearch.datasets import make_gaussian_mixture, make_topics


def test_gaussians_are_counted_and_the_right_one_is_found():
    data = make_gaussian_mixture(2000, 30, 6, random_state=0)
    search = GaussianSearch("auto").fit(data.X)
    found = search.search(examples=data.X[data.labels == 2][:3])
    assert search.n_components_ == search.spectrum_.n_components == 6
    assert np.linalg.norm(found.center - data.centers[2]) < 0.05 * np.linalg.norm(data.centers[2])


def test_one_gaussian_is_an_answer_with_a_warning():
    X = np.random.default_rng(0).standard_normal((200, 5))
    with warns("component_count", n_signal=0) as caught:
        search = GaussianSearch("auto").fit(X)
    assert (search.n_components_, search.spectrum_.n_signal) == (1, 0)
    assert caught[0].message.code == "component_count"
    found = search.search(examples=X[:3])
    assert [warning.code for warning in found.warnings] == ["component_count"]
    assert GaussianSearch(1).fit(X).search(examples=X[:3]).warnings == ()


@pytest.fixture(scope="module")
def corpus():
    return make_topics(1500, 60, 4, mean_length=40, alpha=0.25, random_state=0)


def test_topics_are_counted(corpus):
    assert LdaSearch("auto", alpha0=1.0).fit(corpus.counts).n_components_ == 4


def test_too_few_topics_are_told_and_one_is_an_answer(corpus):
    with warns("component_count", n_components=3, n_signal=4):
        search = LdaSearch(3, alpha0=1.0).fit(corpus.counts)
    assert [warning.code for warning in search.search(words=corpus.labelled_word(0)).warnings] == ["component_count"]
    noise = np.random.default_rng(0).multinomial(50, np.full(30, 1 / 30), size=500)
    assert LdaSearch("auto").fit(noise).n_components_ == 1


@pytest.mark.parametrize("search", [GaussianSearch("many"), LdaSearch("many")])
def test_another_word_than_auto_is_refused(search):
    with raises("bad_argument", argument="n_components", value="many"):
        search.fit(np.eye(10))


def test_too_few_samples_to_compare_parts_of_are_refused():
    with raises("too_few_samples", needed=6, n_samples=5):
        GaussianSearch("auto").fit(np.random.default_rng(0).standard_normal((5, 2)))


def test_clusters_that_are_no_balls_fill_the_spectrum_and_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6)) * np.arange(6, 0, -1)
    with warns("component_count", n_signal=5):
        GaussianSearch("auto").fit(X)
