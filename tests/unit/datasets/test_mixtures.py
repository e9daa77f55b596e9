import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from tests.coded import raises

from mixsearch.datasets import (
    make_gaussian_mixture,
    make_hint,
    make_landscape,
    make_mixed_regression,
    make_reviews,
    make_subspaces,
    make_topics,
)


def test_gaussian_samples_have_the_centers_and_deviations_that_they_claim():
    data = make_gaussian_mixture(40_000, 4, 3, deviation=np.array([0.5, 1.0, 2.0]), random_state=0)
    for i in range(3):
        members = data.X[data.labels == i]
        assert_allclose(members.mean(axis=0), data.centers[i], atol=0.1)
        assert_allclose(members.std(axis=0), data.deviations[i], rtol=0.05)
    assert_allclose(np.bincount(data.labels) / 40_000, data.weights, atol=0.01)


def test_documents_have_the_words_that_their_shares_and_topics_make():
    data = make_topics(3000, 20, 3, mean_length=50, random_state=0)
    counts = data.counts.toarray()
    assert counts.sum(axis=1).mean() == pytest.approx(50, rel=0.02)
    assert_allclose(counts.sum(axis=0) / counts.sum(), (data.shares @ data.topics).mean(axis=0), atol=0.005)
    assert_allclose(data.shares.mean(axis=0), data.alpha / data.alpha.sum(), atol=0.03)


def test_regressions_have_the_residuals_that_they_claim():
    data = make_mixed_regression(20_000, 5, 2, deviation=0.3, intercept=1.0, random_state=0)
    fitted = (data.X * data.centers[data.labels]).sum(axis=1) + data.intercepts[data.labels]
    assert (data.y - fitted).std() == pytest.approx(0.3, rel=0.03)
    assert_allclose(np.linalg.norm(data.centers, axis=1), 1)


def test_subspaces_are_orthonormal_and_hold_their_samples_but_for_the_noise():
    data = make_subspaces(5000, 15, 3, dim=2, deviation=0.1, random_state=0)
    for i, U in enumerate(data.bases):
        assert_allclose(U.T @ U, np.eye(2), atol=1e-10)
        members = data.X[data.labels == i]
        outside = members - members @ U @ U.T
        assert outside.std() == pytest.approx(0.1 * np.sqrt(13 / 15), rel=0.05)


def test_an_oracle_recovers_the_truth_exactly_where_there_is_no_noise():
    gaussians = make_gaussian_mixture(200, 4, 3, deviation=0.0, random_state=0)
    assert_allclose(gaussians.oracle(), gaussians.centers, atol=1e-12)
    regressions = make_mixed_regression(300, 4, 3, deviation=0.0, intercept=1.0, random_state=0)
    assert_allclose(regressions.oracle(), regressions.centers, atol=1e-10)
    subspaces = make_subspaces(200, 8, 3, dim=2, deviation=0.0, random_state=0)
    for found, truth in zip(subspaces.oracle(), subspaces.bases, strict=True):
        assert_allclose(found @ found.T, truth @ truth.T, atol=1e-10)


@pytest.mark.parametrize("gamma", [0.2, 0.7, 1.0])
def test_a_hint_has_the_strength_that_was_asked_for(gamma):
    centers = np.random.default_rng(0).normal(size=(4, 20))
    v = make_hint(centers, 2, gamma=gamma)
    assert np.linalg.norm(v) == pytest.approx(1)
    span = np.linalg.qr(np.delete(centers, 2, axis=0).T)[0]
    inside = span @ (span.T @ v)
    assert inside @ inside == pytest.approx(1 - gamma, abs=1e-12)
    assert (v - inside) @ centers[2] > 0


def test_a_strength_outside_its_range_is_refused():
    with raises("bad_argument", argument="gamma", value=0):
        make_hint(np.eye(3), gamma=0)


def test_every_segment_has_its_seed_and_its_colour():
    data = make_landscape(80, 120, random_state=0)
    assert data.image.shape == (80, 120, 3)
    assert data.image.dtype == np.uint8
    for number, name in enumerate(data.names):
        x, y = data.seeds[name]
        assert data.segments[y, x] == number
    sky, meadow, lake = (data.image[data.segments == i].mean(axis=0) for i in range(3))
    assert np.linalg.norm(sky - lake) < 0.5 * np.linalg.norm(sky - meadow)


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(2_000, random_state=0)


def test_a_file_has_the_columns(reviews, tmp_path):
    path = tmp_path / "reviews.csv"
    reviews.to_csv(path)
    frame = pd.read_csv(path, parse_dates=["date"])
    frame["date"] = frame["date"].dt.date
    assert frame.to_dict("list") == reviews.to_columns()


def test_only_reviews_of_a_subject_name_it(reviews):
    for index, name in enumerate(reviews.subjects):
        mentions = np.array([name in text.lower() for text in reviews.text])
        assert mentions[reviews.shares[:, index] > 0.5].mean() > 0.3
        assert mentions[reviews.shares[:, index] == 0].mean() == 0


def test_praise_has_more_stars(reviews):
    stars = np.array(reviews.stars)
    assert set(stars) == {1, 2, 3, 4, 5}
    is_late, is_hot = (np.array([phrase in text for text in reviews.text]) for phrase in ("hours late", "still hot"))
    assert stars[is_late].mean() < stars[is_hot].mean()


def test_sentences_have_no_open_choices(reviews):
    assert not any(set("()|[]") & set(text) for text in reviews.text)
