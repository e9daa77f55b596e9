"""`n_components="auto"` in searches: the fit, its attributes and its warnings."""

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch import GaussianSearch, RegressionSearch, TopicSearch
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_topics
from mixsearch.errors import SearchError, UnlikelyMixtureWarning


def test_gaussians_are_counted_and_the_right_one_is_found():
    data = make_gaussian_mixture(2000, 30, 6, random_state=0)
    search = GaussianSearch("auto").fit(data.X)
    found = search.search(examples=data.X[data.labels == 2][:3])
    assert search.n_components_ == search.spectrum_.n_components == 6
    assert np.linalg.norm(found.center - data.centers[2]) < 0.05 * np.linalg.norm(data.centers[2])


def test_auto_fits_what_the_number_itself_fits():
    X = make_gaussian_mixture(500, 10, 3, random_state=0).X
    np.testing.assert_allclose(GaussianSearch("auto").fit(X).transform(X), GaussianSearch(3).fit(X).transform(X))


def test_one_gaussian_is_an_answer_with_a_warning():
    X = np.random.default_rng(0).standard_normal((200, 5))
    with pytest.warns(UnlikelyMixtureWarning, match="nothing separates components") as caught:
        search = GaussianSearch("auto").fit(X)
    assert (search.n_components_, search.spectrum_.n_signal) == (1, 0)
    assert caught[0].message.code == "no_signal"
    with pytest.warns(UnlikelyMixtureWarning, match="nothing separates components"):
        found = search.search(examples=X[:3])
    assert ([doubt.code for doubt in found.doubts], found.confidence) == (["no_signal"], 0)
    assert GaussianSearch(1).fit(X).search(examples=X[:3]).doubts == ()


def test_regressions_are_counted():
    data = make_mixed_regression(20_000, 10, 2, random_state=0)
    assert RegressionSearch("auto").fit(data.X, data.y).n_components_ == 2


@pytest.fixture(scope="module")
def corpus():
    return make_topics(1500, 60, 4, mean_length=40, alpha=0.25, random_state=0)


def test_topics_are_counted_and_the_count_is_saved(corpus, tmp_path):
    search = TopicSearch("auto", alpha0=1.0, damping=False).fit(corpus.counts)
    search.save(tmp_path / "topics")
    loaded = TopicSearch.load(tmp_path / "topics")
    assert loaded.n_components == "auto"
    assert loaded.n_components_ == search.n_components_ == 4
    assert repr(loaded.spectrum_) == repr(search.spectrum_)


def test_a_search_with_a_number_is_saved_without_a_spectrum(corpus, tmp_path):
    TopicSearch(3).fit(corpus.counts).save(tmp_path / "topics")
    assert not hasattr(TopicSearch.load(tmp_path / "topics"), "spectrum_")


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")
def test_a_number_given_later_takes_the_spectrum_away():
    X = make_gaussian_mixture(200, 6, 3, random_state=0).X
    search = GaussianSearch("auto").fit(X)
    search.set_params(n_components=2).fit(X)
    assert search.n_components_ == 2
    assert not hasattr(search, "spectrum_")


@pytest.mark.parametrize("search", [GaussianSearch("many"), TopicSearch("many")])
def test_another_word_than_auto_is_refused(search):
    with pytest.raises(SearchError, match="n_components must be a positive integer or 'auto', got 'many'"):
        search.fit(np.eye(10))


def test_too_few_samples_to_compare_parts_of_are_refused():
    with pytest.raises(
        SearchError, match="The folds that n_components='auto' compares need at least 6 samples, but X has n_samples=5"
    ):
        GaussianSearch("auto").fit(np.random.default_rng(0).standard_normal((5, 2)))


def test_responses_of_noise_are_fitted_with_one_regression_and_told():
    rng = np.random.default_rng(1)
    with pytest.warns(UnlikelyMixtureWarning, match="No direction stands out from the noise.*one regression"):
        search = RegressionSearch("auto").fit(rng.standard_normal((300, 8)), rng.standard_normal(300))
    assert search.n_components_ == 1


def test_clusters_that_are_no_balls_fill_the_spectrum_and_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6)) * np.arange(6, 0, -1)
    with pytest.warns(UnlikelyMixtureWarning, match="All 5 directions tested stand out"):
        GaussianSearch("auto").fit(X)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")
def test_one_feature_has_no_direction_to_look_at():
    X = np.random.default_rng(0).standard_normal((30, 1))
    search = GaussianSearch("auto").fit(X)
    assert search.n_components_ == 1
    assert len(search.spectrum_.counts) == 0


def test_sparse_samples_in_single_precision_are_counted():
    X = make_gaussian_mixture(300, 400, 3, random_state=0).X
    sparse = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0).astype(np.float32))
    assert GaussianSearch("auto").fit(sparse).n_components_ == 3
