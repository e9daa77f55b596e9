"""Errors fall as one over the root of the number of samples, and are on average as large as standard errors say."""

import numpy as np
import pytest

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression, make_subspaces, make_topics

N_RUNS = 24


def gaussian(seed):
    data = make_gaussian_mixture(1500, 12, 3, deviation=1.5, random_state=seed)
    found = GaussianSearch(3).fit(data.X).search(make_hint(data.centers, 0, gamma=0.95), refine=True)
    return found, data.centers[0], data.weights[0]


def regression(seed):
    data = make_mixed_regression(10_000, 6, 2, deviation=0.3, random_state=seed)
    found = RegressionSearch(2).fit(data.X, data.y).search(make_hint(data.centers, 0, gamma=0.95), refine=True)
    return found, data.centers[0], data.weights[0]


def topic(seed):
    data = make_topics(800, 25, 2, mean_length=40, alpha=0.3, concentration=1.0, random_state=seed)
    found = LdaSearch(2, alpha0=0.6).fit(data.counts).search(words=data.labelled_word(0), refine=True)
    return found, data.topics[0], 0.5


@pytest.mark.parametrize("draw", [gaussian, regression, topic])
def test_errors_are_as_large_as_they_are_said_to_be(draw):
    squares = {"moments": [], "refined": []}
    for seed in range(N_RUNS):
        found, center, weight = draw(seed)
        for name, each in {"moments": found.moment_estimate, "refined": found}.items():
            away = (each.center - center) / each.stderr.center
            squares[name].append([np.mean(away**2), ((each.weight - weight) / each.stderr.weight) ** 2])
    for name, values in squares.items():
        of_center, of_weight = np.mean(values, axis=0)
        assert 0.5 < of_center < 1.6, name
        assert 0.4 < of_weight < 2.2, name


def test_errors_of_a_basis_are_as_large_as_they_are_said_to_be():
    squares = []
    for seed in range(N_RUNS):
        data = make_subspaces(1500, 15, 2, dim=2, deviation=0.3, random_state=seed)
        members = data.X[data.labels == 0][:6]
        found = SubspaceSearch(2, dim=2).fit(data.X).search(examples=members, refine=True)
        left, _, right = np.linalg.svd(data.bases[0].T @ found.basis)
        away = (found.basis - data.bases[0] @ left @ right) / found.stderr.basis
        squares.append([np.mean(away**2), ((found.weight - data.weights[0]) / found.stderr.weight) ** 2])
    of_basis, of_weight = np.mean(squares, axis=0)
    assert 0.6 < of_basis < 1.5
    assert 0.4 < of_weight < 2.2


SIZES = 2 ** np.arange(10, 18)
SEEDS = range(8)


def gaussian_error(n, seed):
    data = make_gaussian_mixture(n, 20, 3, deviation=1.0, random_state=seed)
    found = GaussianSearch(3).fit(data.X).search(make_hint(data.centers, 0, gamma=0.9))
    return np.linalg.norm(found.center - data.centers[0])


def topic_error(n, seed):
    data = make_topics(n, 40, 3, mean_length=30, alpha=0.3, random_state=seed)
    found = LdaSearch(3, alpha0=0.9).fit(data.counts).search(words=data.labelled_word(0))
    return np.linalg.norm(found.center - data.topics[0])


def regression_error(n, seed):
    data = make_mixed_regression(n, 10, 2, weights=np.array([0.5, 0.5]), random_state=seed)
    found = RegressionSearch(2).fit(data.X, data.y).search(make_hint(data.centers, 0, gamma=0.9))
    return np.linalg.norm(found.center - data.centers[0])


def subspace_error(n, seed):
    data = make_subspaces(n, 30, 2, dim=2, deviation=0.1, random_state=seed)
    found = SubspaceSearch(2, dim=2).fit(data.X).search(make_hint(data.bases, 0, gamma=0.95), refine=False)
    return np.linalg.norm(found.basis @ found.basis.T - data.bases[0] @ data.bases[0].T, 2)


@pytest.mark.parametrize("error", [gaussian_error, topic_error, regression_error, subspace_error])
@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")  # of few samples
def test_the_error_falls_with_the_root_of_the_number_of_samples(error):
    errors = [np.mean([error(int(n), seed) for seed in SEEDS]) for n in SIZES]
    slope, _ = np.polyfit(np.log2(SIZES), np.log2(errors), 1)
    assert slope == pytest.approx(-0.5, abs=0.1), errors
