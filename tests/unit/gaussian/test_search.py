import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.coded import raises
from tests.populations import draw_mixture

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture, make_hint

data = make_gaussian_mixture(
    6000, 40, 5, deviation=np.array([0.3, 0.6, 0.9, 1.2, 1.5]), weights=np.full(5, 0.2), random_state=4
)
search = GaussianSearch(5).fit(data.X)


@pytest.mark.parametrize("target", [0, 4])
def test_a_component_comes_with_a_variance_of_its_own(target):
    found = search.search(make_hint(data.centers, target))
    assert found.noise_variance == pytest.approx(data.deviations[target] ** 2, rel=0.15)
    assert found.weight == pytest.approx(0.2, rel=0.1)


def test_membership_takes_sparse_samples_and_refuses_other_widths():
    found = search.search(make_hint(data.centers, 2))
    assert_allclose(found.membership(sp.csr_array(data.X[:50])), found.membership(data.X[:50]), atol=1e-12)
    with raises("other_features", found=3, n_features=40):
        found.membership(data.X[:, :3])


def test_one_sample_is_enough_of_a_hint():
    rng = np.random.default_rng(0)
    for target in range(5):
        sample = data.X[rng.choice(np.flatnonzero(data.labels == target))]
        found = search.search(examples=sample[None, :])
        assert np.linalg.norm(found.center - data.centers[target]) < 0.5


@pytest.mark.parametrize(
    ("shift", "dtype", "tol"), [(20.0, np.float64, 1e-9), (1e6, np.float64, 1e-5), (1e3, np.float32, 0.05)]
)
def test_the_answer_does_not_depend_on_where_the_origin_is(shift, dtype, tol):
    away = np.full(40, shift)
    plain = search.search(examples=data.X[data.labels == 0][:2])
    moved = GaussianSearch(5).fit((data.X + away).astype(dtype))
    found = moved.search(examples=(data.X + away).astype(dtype)[data.labels == 0][:2])
    assert_allclose(found.center - away, plain.center, atol=tol)
    assert found.weight == pytest.approx(plain.weight, rel=tol)
    assert found.separation == pytest.approx(plain.separation, rel=10 * tol)
    assert_allclose(found.membership((data.X + away).astype(dtype)), plain.membership(data.X), atol=0.1)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")  # too few samples to tell
@pytest.mark.parametrize("noise", ["default", "paper"])
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 6), room=st.integers(1, 30))
def test_samples_with_the_exact_moments_of_the_mixture_give_the_component_exactly(noise, seed, k, room):
    """Points at ±σ√d along each axis have all moments of a spherical Gaussian up to the third."""
    mixture = draw_mixture(seed, k, k + room)
    d = k + room
    rng = np.random.default_rng(seed)
    times, deviations = rng.integers(1, 4, size=k), rng.uniform(0.2, 1.0, size=k)
    around = np.sqrt(d) * np.vstack([np.eye(d), -np.eye(d)])
    parts = [np.tile(m + s * around, (t, 1)) for m, s, t in zip(mixture.centers, deviations, times, strict=True)]
    found = GaussianSearch(k, preset=noise).fit(np.vstack(parts)).search(mixture.hint)
    assert_allclose(found.center, mixture.centers[0], atol=1e-8 * np.linalg.norm(mixture.centers[0]))
    assert found.weight == pytest.approx(times[0] / times.sum(), rel=1e-7)
    assert found.noise_variance == pytest.approx(deviations[0] ** 2, rel=1e-6)
    assert found.score == pytest.approx(mixture.scores[0], rel=1e-7)


def test_noise_is_averaged_over_the_whole_noise_space():
    truth = np.mean(data.deviations**2)
    ours, paper = (
        abs(GaussianSearch(5, preset=kind).fit(data.X).noise_variance_ - truth) for kind in ("default", "paper")
    )
    assert ours < 0.02
    assert paper > 3 * ours


def test_the_whole_of_a_single_gaussian_is_its_mean():
    X = np.random.default_rng(0).normal(size=(5000, 6)) + 3
    found = GaussianSearch(1).fit(X).search(np.ones(6))
    assert_allclose(found.center, X.mean(axis=0), atol=0.05)
    assert found.separation == np.inf
    assert found.alternatives == ()
    assert_allclose(found.membership(X), 1)


def test_memberships_are_probabilities_that_can_be_believed():
    near = make_gaussian_mixture(20_000, 10, 3, deviation=2.5, norm=4, random_state=0)
    members = GaussianSearch(3).fit(near.X).search(near.centers[0]).membership(near.X)
    for low in (0.1, 0.3, 0.5, 0.7):
        said = (members > low) & (members <= low + 0.2)
        assert np.mean(near.labels[said] == 0) == pytest.approx(low + 0.1, abs=0.12)


def test_a_hint_in_which_no_component_differs_is_refused():
    spanned = np.linalg.qr((data.centers - data.centers.mean(axis=0)).T)[0]
    exact = GaussianSearch(5).fit(np.repeat(data.centers, 50, axis=0))
    v = np.random.default_rng(0).normal(size=40)
    with raises("hint_orthogonal"):
        exact.search(v - spanned @ (spanned.T @ v))
    with raises("hint_orthogonal"):
        search.search(examples=data.X)


@pytest.mark.parametrize(("factor", "code"), [(1e100, "too_large"), (1e-100, "too_small")])
def test_numbers_whose_powers_overflow_are_refused(factor, code):
    with raises(code):
        GaussianSearch(5).fit(factor * data.X)
    with raises(code):
        search.search(factor * data.X[0])
    with raises(code):
        search.search(examples=factor * data.X[:3])


def test_examples_are_checked_by_the_others_and_a_direction_or_one_example_is_not():
    members = data.X[data.labels == 1][:4]
    check = search.search(examples=members).check
    n_members = np.sum(data.labels == 1)
    assert check.n_rows == len(data.X)
    assert len(check.ranks) == 4
    assert check.ranks.max() <= n_members
    assert "4 of 4 examples come back" in str(check)
    for without in (search.search(make_hint(data.centers, 1)), search.search(examples=members[:1])):
        assert len(without.check.ranks) == 0
