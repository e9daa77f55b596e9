import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

from mixsearch import GaussianSearch, SearchError, WithinWhitener
from mixsearch.errors import UnlikelyMixtureWarning


def thin_clusters(seed=0, n=900):
    """Three clusters, each twelve times as long as wide, side by side along their short side."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    X = rng.normal(size=(n, 4)) * [12, 5, 1, 1]
    X[:, 2] += 8 * (labels == 1)
    X[:, 3] += 8 * (labels == 2)
    return X @ turn, labels


def within(X, labels):
    return sum(np.cov(X[labels == i], rowvar=False) * np.mean(labels == i) for i in range(3))


def test_components_become_round():
    X, labels = thin_clusters()
    Z = WithinWhitener().fit_transform(X)
    values = np.linalg.eigvalsh(within(Z, labels))
    before = np.linalg.eigvalsh(within(X, labels))
    assert before[-1] / before[0] > 100
    assert values[-1] / values[0] < 7


@pytest.mark.slow
def test_units_of_the_features_do_not_matter():
    X, _ = thin_clusters()
    units = np.array([1.0, 1e6, 1e-3, 7.0])
    one, other = WithinWhitener().fit_transform(X), WithinWhitener().fit_transform(X * units)
    assert_allclose(one @ one.T, other @ other.T, rtol=1e-5, atol=1e-6 * np.abs(one @ one.T).max())


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")
@pytest.mark.filterwarnings("ignore::mixsearch.errors.DoubtfulExamplesWarning")
def test_thin_clusters_are_found_with_it_and_not_without():
    X, labels = thin_clusters()
    shares = {}
    for name, steps in {"with": (WithinWhitener(),), "without": ()}.items():
        pipeline = make_pipeline(*steps, GaussianSearch(3)).fit(X)
        Z = pipeline[:-1].transform(X) if steps else X
        found = pipeline[-1].search(examples=Z[labels == 1][:5], refine=True)
        shares[name] = np.mean((found.membership(Z) > 0.5) == (labels == 1))
    assert shares["with"] > 0.98
    assert shares["without"] < 0.9


def test_single_precision_stays_single():
    X, _ = thin_clusters()
    assert WithinWhitener().fit_transform(X.astype(np.float32)).dtype == np.float32


def test_constant_features_and_few_samples_do_no_harm():
    X = np.column_stack([np.arange(5.0), np.ones(5)])
    assert np.isfinite(WithinWhitener(n_neighbors=20).fit_transform(X)).all()


@pytest.mark.parametrize("option", [{"n_neighbors": 0}, {"n_rounds": 1.5}])
def test_options_that_make_no_sense_are_named(option):
    with pytest.raises(SearchError, match=f"{next(iter(option))} must be a positive integer, got"):
        WithinWhitener(**option).fit(np.eye(3))


def test_a_constant_feature_adds_nothing():
    X, _ = thin_clusters()
    plain = WithinWhitener().fit_transform(X)
    found = WithinWhitener().fit_transform(np.column_stack([X, np.full(len(X), 3.7)]))
    assert_allclose(np.cov(found.T).trace(), np.cov(plain.T).trace(), rtol=1e-6)


def test_copies_of_a_few_samples_keep_their_size():
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 20, axis=0)
    assert np.abs(WithinWhitener().fit_transform(X)).max() < 100


def test_more_features_than_neighbours_can_tell_are_warned_about():
    X = np.random.default_rng(0).normal(size=(300, 60))
    with pytest.warns(UnlikelyMixtureWarning, match="60 features are many for 300 samples.*30 or fewer") as caught:
        WithinWhitener().fit(X)
    assert caught[0].message.code == "too_many_features"


def test_what_is_whitened_can_be_taken_back():
    X = np.random.default_rng(0).normal(size=(300, 3)) * [1, 20, 0.1] + [5, -100, 2]
    whitener = WithinWhitener().fit(X)
    assert_allclose(whitener.inverse_transform(whitener.transform(X)), X, rtol=1e-9)
    with pytest.raises(SearchError, match="X has 2 features"):
        whitener.inverse_transform(X[:, :2])
