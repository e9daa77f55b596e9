"""Components of any shape: planted ones are found, in the units of the user."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from tests.coded import raises, warns
from tests.split_samples import split_samples
from tests.unit.gaussian.shaped import AWAY, CENTERS, UNITS, WEIGHTS, draw

from mixsearch import GaussianComponent, GaussianSearch
from mixsearch.core.em import EMOptions
from mixsearch.core.extraction import Extraction
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import OutliersWarning
from mixsearch.gaussian.queries import MAX_FEATURES, fit_shapes
from mixsearch.table.shapes import SHAPES

full = draw("full")
search = GaussianSearch(3, covariance="full").fit(full.X)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_planted_is_found_from_examples(shape):
    data = draw(shape)
    fitted = GaussianSearch(covariance=shape, scale=shape != "spherical" or "auto").fit(data.X)
    assert fitted.n_components_ == 3
    for target in range(3):
        found = fitted.search(examples=data.members(target), refine=True)
        assert isinstance(found, GaussianComponent)
        assert np.linalg.norm(found.center - CENTERS[target]) < 0.25
        assert found.weight == pytest.approx(WEIGHTS[target], abs=0.03)
        planted = data.covariances[target]
        units = np.sqrt(np.outer(np.diag(planted), np.diag(planted)))
        assert_allclose(found.covariance / units, planted / units, atol=0.25)
        assert found.noise_variance == pytest.approx(np.trace(found.covariance) / 4)
        assert found.confidence > 0.95


def test_auto_leaves_the_units_of_spherical_components_alone():
    data = make_gaussian_mixture(1500, 8, 4, deviation=[0.5, 1.0, 1.5, 2.0], norm=8.0, random_state=2)
    fitted = GaussianSearch(covariance="auto").fit(data.X)
    assert (fitted.covariance_, fitted.n_components_) == ("spherical", 4)
    assert_allclose(fitted.scale_, fitted.scale_[0])
    found = fitted.search(examples=data.X[data.labels == 0][:3], refine=True)
    assert_allclose(found.covariance, found.covariance[0, 0] * np.eye(8), atol=1e-9)
    plain = GaussianSearch(4).fit(data.X).search(examples=data.X[data.labels == 0][:3], refine=True)
    assert np.linalg.norm(found.center - plain.center) < 0.1 * np.linalg.norm(plain.stderr.center)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")  # of shapes that are not planted
@pytest.mark.parametrize("covariance", ["spherical", "tied", "auto"])
def test_units_of_the_features_change_nothing_but_the_units_of_the_answer(covariance):
    data = draw("diagonal", n=1500)
    moved = data.X * UNITS + AWAY
    # Spherical components have no units of their own, so that only a scale makes them comparable.
    one, other = (GaussianSearch(3, covariance=covariance, scale=True).fit(X) for X in (data.X, moved))
    assert other.covariance_ == one.covariance_
    assert_allclose(other.scale_, one.scale_ * UNITS)
    for target in range(3):
        members = data.members(target)
        found = one.search(examples=members, refine=True)
        again = other.search(examples=members * UNITS + AWAY, refine=True)
        assert_allclose((again.center - AWAY) / UNITS, found.center, atol=1e-6)
        assert_allclose(again.stderr.center / UNITS, found.stderr.center, rtol=1e-3)
        assert_allclose(again.covariance / np.outer(UNITS, UNITS), found.covariance, atol=1e-6)
        assert_allclose(again.membership(moved), found.membership(data.X), atol=1e-6)
        assert_allclose(again.scores, found.scores, rtol=1e-5)
    # A direction v of the samples is v / units of those in other units: scores differ by the same number for all.
    v = np.array([0.3, 1.0, 0.2, -0.1])
    found, again = one.search(v, refine=True), other.search(v / UNITS, refine=True)
    assert_allclose((again.center - AWAY) / UNITS, found.center, atol=1e-6)
    assert_allclose(np.diff(again.scores), np.diff(found.scores), atol=1e-6)


def test_a_direction_finds_the_component_that_scores_highest():
    for target, v in enumerate([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]):
        found = search.search(v, refine=True)
        assert np.linalg.norm(found.center - CENTERS[target]) < 0.25
        assert found.confidence > 0.99
        assert found.score == pytest.approx(found.center @ v)
        assert np.all(np.diff(found.scores) < 0)
        low, high = found.separation_interval
        assert low <= found.separation <= high
        assert [each.score for each in found.alternatives] == pytest.approx(found.scores[1:])


def test_a_direction_in_which_all_centers_agree_is_refused():
    X = np.column_stack([full.X, np.full(len(full.X), 3.0)])
    fitted = GaussianSearch(3, covariance="full").fit(X)
    with raises("hint_orthogonal"):
        fitted.search([0, 0, 0, 0, 1.0])
    assert fitted.search(examples=X[full.labels == 1][:3]).center[-1] == pytest.approx(3.0)


def test_there_may_be_more_components_than_features():
    rng = np.random.default_rng(3)
    grid = np.array([(x, y) for x in range(3) for y in range(3)], dtype=float)
    labels = np.repeat(np.arange(9), 80)
    X = grid[labels] + 0.12 * rng.normal(size=(720, 2))
    for k in ("auto", 9):
        fitted = GaussianSearch(k, covariance="diagonal").fit(X)
        assert fitted.n_components_ == 9
        found = fitted.search(examples=X[labels == 4][:2], refine=True)  # in the middle of all others
        assert_allclose(found.center, [1, 1], atol=0.1)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.DoubtfulExamplesWarning")
def test_examples_that_the_mixture_contradicts_are_held_in_their_component():
    """Members of one of two overlapping components, all from the side of the other one."""
    rng = np.random.default_rng(5)
    labels = np.repeat([0, 1], [1500, 60])
    X = rng.normal(size=(1560, 2)) + np.outer(labels, [2.2, 0])
    near = X[labels == 1][np.argsort(X[labels == 1, 0])[:25]]
    fitted = GaussianSearch(2, covariance="tied").fit(X)
    found, before = (fitted.search(examples=near, refine=refine) for refine in (True, False))
    likely, before_it = (multivariate_normal(each.center, each.covariance) for each in (found, before))
    assert likely.logpdf(near).mean() > before_it.logpdf(near).mean()
    assert np.linalg.norm(found.center - near.mean(axis=0)) < np.linalg.norm(before.center - near.mean(axis=0))


@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")
def test_what_is_no_member_keeps_a_component_out():
    far = (CENTERS[0] + CENTERS[1]) / 2
    between = np.vstack([far, far + 0.1])
    one, other = (search.search(examples=between, not_examples=full.members(i), refine=True) for i in (0, 1))
    assert np.argmin(np.linalg.norm(CENTERS - one.center, axis=1)) == 1
    assert np.argmin(np.linalg.norm(CENTERS - other.center, axis=1)) == 0


def test_samples_in_partitions_give_the_same_answer():
    whole, _ = fit_shapes(split_samples(full.X, []), "full", 3, is_scaled=None)
    split, _ = fit_shapes(split_samples(full.X, [700, 700, 1900]), "full", 3, is_scaled=None)
    members, options = full.members(1), EMOptions(100, 0.01)
    one, other = (each.search_examples(members, members[:0], Extraction(), options) for each in (whole, split))
    assert_allclose(other.center, one.center, atol=1e-8)
    assert_allclose(other.stderr.center, one.stderr.center, rtol=1e-4)
    assert_allclose(other.covariance, one.covariance, atol=1e-8)


def test_single_samples_far_out_are_left_out_in_scaled_features_too():
    X = draw("diagonal").X * UNITS
    X[17] = [0, 0, 40.0, 0]  # far in units of the third feature, near all others in those of the first
    with pytest.warns(OutliersWarning):
        fitted = GaussianSearch(3, covariance="diagonal").fit(X)
    assert fitted.outliers_.tolist() == [17]
    assert fitted.scale_[2] == pytest.approx(np.delete(X, 17, axis=0)[:, 2].std())


def test_samples_that_are_not_gaussian_are_doubted():
    rng = np.random.default_rng(6)
    angle = rng.uniform(0, np.pi, 1500)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(1500, 2))
    fitted = GaussianSearch(1, covariance="full").fit(X)
    with warns("not_gaussian", shape="full", other="covariance"):
        found = fitted.search(examples=X[:2])
    assert "not_gaussian" in [doubt.code for doubt in found.doubts]
    assert found.confidence < 0.9


@pytest.mark.parametrize(
    ("options", "arguments", "argument"),
    [
        ({"preset": "paper"}, {}, "preset='paper'"),
        ({}, {"n_components": 2}, "n_components"),
        ({}, {"method": "cancellation"}, "method"),
        ({}, {"rehint": False}, "rehint"),
    ],
)
def test_options_of_the_moments_are_for_spherical_components(options, arguments, argument):
    with raises("spherical_only", argument=argument):
        GaussianSearch(3, covariance="full", **options).fit(full.X).search(examples=full.X[:1], **arguments)


def test_what_is_no_member_needs_shapes_and_members():
    data = make_gaussian_mixture(500, 4, 2, random_state=0)
    with raises("shaped_only", argument="not_examples"):
        GaussianSearch(2).fit(data.X).search(examples=full.X[:1], not_examples=full.X[1:2])
    with raises("needs_examples", argument="not_examples", needed="examples"):
        search.search([1, 0, 0, 0], not_examples=full.X[:1])
    with raises("contradicting_rows", rows="1"):
        search.search(examples=full.X[:3], not_examples=full.X[1:2])


@pytest.mark.parametrize(("name", "value"), [("covariance", "round"), ("covariance", None), ("scale", "yes")])
def test_arguments_are_checked(name, value):
    with raises("bad_argument", argument=name, value=value):
        GaussianSearch(**{name: value}).fit(full.X)


def test_too_many_features_are_refused():
    with raises("too_many_features", possible=2000):
        GaussianSearch(1, covariance="diagonal").fit(np.ones((3, MAX_FEATURES + 1)))


def test_components_that_no_sample_is_left_for_are_not_made_up():
    X = np.repeat(np.random.default_rng(0).normal(size=(2, 3)), 30, axis=0)
    with warns("fewer_components", n_found=2, n_components=5):
        fitted = GaussianSearch(5, covariance="full").fit(X)
    assert fitted.n_components_ == 2


@pytest.mark.parametrize("covariance", ["auto", "spherical", "full"])
def test_samples_that_do_not_vary_are_one_component(covariance):
    X = np.column_stack([np.full(20, 0.1), np.full(20, 1e6)])
    fitted = GaussianSearch(covariance=covariance, scale=True).fit(X)
    assert fitted.n_components_ == 1
    found = fitted.search(examples=X[:1], refine=True)
    assert_allclose(found.center, X[0])
    assert np.isfinite(found.covariance).all()
    assert_allclose(found.membership(X), 1)
